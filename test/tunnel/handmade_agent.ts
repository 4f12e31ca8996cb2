import { type Duplex, duplexPair } from 'node:stream';
import { onTestFinished } from 'vitest';
import { newIds } from '../../src/events/identifiers.ts';
import { Agents } from '../../src/tunnel/agents.ts';
import { MuxConnection } from '../../src/tunnel/mux/connection.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';

/** The request to bind an HTTPS endpoint. */
export const bindOf = (Domain: string, more: object = {}, PoolingEnabled = false): string =>
  JSON.stringify({
    Id: '',
    Proto: 'https',
    ForwardsTo: 'x',
    ForwardsProto: '',
    Opts: { Domain, ...more },
    Extra: { Token: '', Metadata: '', Bindings: [], PoolingEnabled },
  });

export const labelledOf = (Labels: Readonly<Record<string, string>>): string =>
  JSON.stringify({ Labels, ForwardsTo: 'x', ForwardsProto: '', Metadata: '' });

export const AUTH = JSON.stringify({
  Version: ['3'],
  ClientId: '',
  Extra: { AuthToken: 'x', OS: 'linux', StopUnsupportedError: '' },
});

export const CALL = { auth: 0, bind: 1, unbind: 2, labelled: 7 } as const;

/** A session whose agent is written by hand, over a connection without TLS; `carried` gets the streams to its tunnels. */
export function handmadeAgent(
  agents = new Agents({
    nowMs: Date.now,
    newId: newIds(Date.now),
    admit: async () => ({ credential: null, acl: [] }),
  }),
  carried: ((stream: StreamDuplex) => void) | null = null,
) {
  const [ours, theirs] = duplexPair();
  const session = agents.accept(theirs, '127.0.0.1');
  onTestFinished(() => session.close('the test is over'));
  return { agents, session, socket: ours, ...agentOver(ours, carried) };
}

/** The agent's side of a connection; `carried` gets the streams of tunnels and commands. */
export function agentOver(socket: Duplex, carried: ((stream: StreamDuplex) => void) | null) {
  let reason: string | null = null;
  const connection = new MuxConnection(
    socket,
    {
      opened: (stream) => {
        if (carried === null) return null;
        const duplex = new StreamDuplex();
        duplex.attach(stream);
        carried(duplex);
        return duplex;
      },
      received: () => undefined,
      closed: (why) => void (reason = why),
    },
    { firstId: 3, peerStreams: 1_000 },
  );
  /** Sends bytes on a new stream; resolves with the answer, null if the stream was reset. */
  const call = (type: number, text: string | Buffer): Promise<string | null> =>
    new Promise((resolve) => {
      const duplex = new StreamDuplex();
      let answer = '';
      duplex.on('data', (bytes: Buffer) => (answer += bytes.toString()));
      duplex.on('end', () => {
        duplex.end();
        resolve(answer);
      });
      duplex.on('error', () => resolve(null));
      const stream = connection.mux.open(duplex)!;
      const head = Buffer.alloc(4);
      head.writeUInt32BE(type);
      duplex.attach(stream);
      duplex.write(Buffer.concat([head, Buffer.from(text)]));
    });
  return { connection, call, ended: () => reason };
}

/** The bytes of a connection after its head: kind, length, and a JSON object. */
export function afterHead(stream: StreamDuplex, take: (bytes: Buffer) => void): void {
  let held: Buffer | null = Buffer.alloc(0);
  stream.on('data', (bytes: Buffer) => {
    if (held === null) {
      take(bytes);
      return;
    }
    held = Buffer.concat([held, bytes]);
    if (held.length < 12) return;
    const start = 12 + Number(held.readBigInt64LE(4));
    if (held.length < start) return;
    const rest = held.subarray(start);
    held = null;
    if (rest.length > 0) take(rest);
  });
  stream.resume();
}
