import { once } from 'node:events';
import { type Socket, connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { CALL, openStream, wireAgent } from '../../bench/agents/wire_agent.ts';
import { dataFrame, resetFrame, windowFrame } from '../../src/tunnel/mux/frames.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { type Chance, pause } from '../server/faults/chance.ts';

interface Target {
  readonly port: number;
  readonly ca: string;
}

type Attack = (target: Target, chance: Chance) => Promise<void>;

const AUTH = '{"Version":["3"],"ClientId":"","Extra":{"AuthToken":"x","OS":"linux"}}';
const HEARTBEAT = 0xffff_ffff;
const AFTER_MS = 60;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const opens = (id: number, type: number, text: string | Uint8Array): Buffer =>
  dataFrame(id, Buffer.concat([uint32(type), Buffer.from(text)]), { opens: true, isLast: false });
const data = (id: number, body: Uint8Array): Buffer => dataFrame(id, body, { opens: false, isLast: false });
/** A frame that announces more than it brings. */
const announced = (lengthBytes: number, type: number, id: number): Buffer => {
  const frame = Buffer.alloc(8);
  frame.writeUIntBE(lengthBytes, 0, 3);
  frame[3] = type;
  frame.writeUInt32BE(id, 4);
  return frame;
};

/** A TLS connection that sends these pieces, waits a little, and goes away without a word. */
async function sends({ port, ca }: Target, pieces: readonly Uint8Array[], gapMs = 0, deaf = false) {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
  if (deaf) socket.pause();
  else socket.resume();
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    if (gapMs > 0) await pause(gapMs);
  }
  await gone(socket);
}

async function gone(socket: Socket): Promise<void> {
  await pause(AFTER_MS);
  socket.destroy();
  if (!socket.closed) await once(socket, 'close');
}

/** A started agent; what it is given to carry is never read. */
const started = (target: Target) => wireAgent({ ...target, serve: () => new StreamDuplex() });

function mutated(text: string, chance: Chance): Buffer {
  const bytes = Buffer.from(text);
  for (let left = 1 + chance.below(4); left > 0; left--)
    bytes[chance.below(bytes.length)] = chance.below(256);
  return bytes;
}

const BIND = JSON.stringify({
  Id: '',
  Proto: 'https',
  ForwardsTo: 'x',
  ForwardsProto: '',
  Opts: {
    Domain: 'h.localhost',
    Compression: {},
    IPRestriction: { allow_cidrs: ['::/0'] },
    TrafficPolicy: '{}',
  },
  Extra: { Token: '', Metadata: '', Bindings: [], PoolingEnabled: false },
});
const LABELLED = '{"Labels":{"app":"none"},"ForwardsTo":"x","ForwardsProto":"","Metadata":""}';

/** What hostile agents do. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'no TLS': async ({ port }) => {
    const socket = connectTcp(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await gone(socket);
  },
  'bytes by chance': (target, chance) =>
    sends(target, [Buffer.from(Array.from({ length: 400 }, () => chance.below(256)))]),
  'an Auth that is mutated': (target, chance) => sends(target, [opens(3, CALL.auth, mutated(AUTH, chance))]),
  'an Auth byte by byte': (target) =>
    sends(
      target,
      Array.from(opens(3, CALL.auth, AUTH), (byte) => Buffer.from([byte])),
    ),
  'half a frame': (target, chance) =>
    sends(target, [opens(3, CALL.auth, AUTH).subarray(0, 1 + chance.below(40))]),
  'a huge length': (target, chance) =>
    sends(target, [
      announced(0xff_ffff, chance.one([0x10, 0x12, 0x00, 0x20, 0x30]), 3),
      Buffer.alloc(300_000),
    ]),
  'GOAWAY without an end': (target) =>
    sends(target, [announced(0xff_ffff, 0x30, 0), ...Array.from({ length: 20 }, () => Buffer.alloc(65_536))]),
  'an Auth that nests deeply': (target) =>
    sends(target, [opens(3, CALL.auth, `{"Extra":${'['.repeat(60_000)}`)]),
  'an Auth with members twice': (target) =>
    sends(target, [
      opens(
        3,
        CALL.auth,
        `{"Extra":{"OS":"a"},"extra":{"os":7},${'"Extra":{"OS":[]},'.repeat(500)}"ClientId":"","clientid":1}`,
      ),
    ]),
  'streams without number': (target) =>
    sends(
      target,
      Array.from({ length: 2_000 }, (_, at) => opens(3 + 2 * at, HEARTBEAT, 'beat')),
    ),
  'resets of everything': (target, chance) =>
    sends(target, [
      opens(3, HEARTBEAT, 'beat'),
      ...Array.from({ length: 500 }, () => resetFrame(1 + chance.below(40), chance.below(14))),
      ...Array.from({ length: 500 }, () => windowFrame(1 + chance.below(40), 0x7fff_ffff)),
    ]),
  'more than the window': (target) =>
    sends(target, [
      opens(3, HEARTBEAT, 'beat'),
      ...Array.from({ length: 12 }, () => data(3, Buffer.alloc(60_000))),
    ]),
  'a deaf agent that asks for answers': (target) =>
    sends(
      target,
      [
        opens(3, HEARTBEAT, 'beat'),
        ...Array.from({ length: 5_000 }, (_, at) => data(4 + 2 * at, Buffer.from('x'))),
      ],
      0,
      true,
    ),
  'calls that are mutated': async (target, chance) => {
    const { connection, socket } = await started(target);
    for (let left = 20; left > 0; left--) {
      const [type, text] = chance.one([
        [CALL.bind, BIND],
        [CALL.startLabelled, LABELLED],
        [CALL.unbind, '{"Id":"tn_1"}'],
      ] as const);
      openStream(connection, type, mutated(text, chance))?.resume();
    }
    await gone(socket);
  },
  'streams reset in every state': async (target, chance) => {
    const { connection, socket } = await started(target);
    for (let left = 60; left > 0; left--) {
      const stream = openStream(connection, chance.below(12), Buffer.from(BIND.slice(0, chance.below(400))));
      if (chance.is(0.3)) stream?.end();
      if (chance.is(0.3)) await pause(0);
      stream?.destroy();
    }
    await gone(socket);
  },
  'a bind that is left': async (target) => {
    const { connection, socket } = await started(target);
    for (let left = 5; left > 0; left--) openStream(connection, CALL.bind, Buffer.from(BIND));
    socket.destroy();
    await gone(socket);
  },
  'an agent that takes requests and leaves them': async (target) => {
    const { call, socket } = await started(target);
    await call(CALL.startLabelled, { Labels: { app: 'bad' } });
    await pause(AFTER_MS);
    socket.pause();
    await gone(socket);
  },
};
