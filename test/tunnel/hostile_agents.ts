import { once } from 'node:events';
import { type Socket, connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { CALL, type Resumed, openStream, wireAgent } from '../../bench/agents/wire_agent.ts';
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
/** A bind that asks for an id of its own, as agents do when they connect again. */
const BOUND = (Id: string, host: string): string =>
  JSON.stringify({ ...(JSON.parse(BIND) as object), Id, Opts: { Domain: host } });
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
  'a giant Auth, past every limit': (target) =>
    sends(target, [
      opens(3, CALL.auth, '{"Extra":{"Metadata":"'),
      ...Array.from({ length: 100 }, () => data(3, Buffer.alloc(16_000, 'x'))),
    ]),
  'a started agent that floods stream opens': async (target) => {
    const { socket } = await started(target);
    for (let id = 101; id < 20_101 && !socket.destroyed; id += 2)
      socket.write(opens(id, CALL.bind, '{"Proto":'));
    await gone(socket);
  },
  'half a connection': async (target) => {
    const { socket } = await started(target);
    socket.pause().end();
    await gone(socket);
  },
  'heartbeats that stop': async ({ port, ca }) => {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
    socket.on('error', () => undefined).resume();
    // In nanoseconds: the edge soon takes the agent for lost, and ends the connection itself.
    const Extra = { AuthToken: 'x', OS: 'linux', HeartbeatInterval: 1e6, HeartbeatTolerance: 1e6 };
    socket.write(opens(3, HEARTBEAT, 'beat'));
    socket.write(opens(5, CALL.auth, JSON.stringify({ Version: ['3'], ClientId: '', Extra })));
    if (!socket.closed) await once(socket, 'close');
  },
  'unbinds during binds': async (target, chance) => {
    const { connection, socket } = await started(target);
    for (let at = 0; at < 20; at++) {
      const id = `tn_${chance.below(5)}`;
      openStream(connection, CALL.bind, Buffer.from(BOUND(id, `u${chance.below(5)}.localhost`)))?.resume();
      openStream(connection, CALL.unbind, Buffer.from(JSON.stringify({ Id: id })))?.resume();
      if (chance.is(0.3)) await pause(1);
    }
    await gone(socket);
  },
  'the same id bound by two agents at once': async (target) => {
    const agents = await Promise.all([started(target), started(target)]);
    for (let at = 0; at < 10; at++)
      for (const { connection } of agents)
        openStream(connection, CALL.bind, Buffer.from(BOUND(`tn_same${at}`, `s${at}.localhost`)))?.resume();
    await Promise.all(agents.map(({ socket }) => gone(socket)));
  },
  'a session that is resumed again and again': async (target) => {
    let resumes: Resumed | undefined;
    const sockets: Socket[] = [];
    for (let at = 0; at < 5; at++) {
      const agent = await wireAgent({
        ...target,
        serve: () => new StreamDuplex(),
        ...(resumes && { resumes }),
      });
      openStream(agent.connection, CALL.bind, Buffer.from(BOUND('tn_again', 'again.localhost')))?.resume();
      resumes = agent.session;
      sockets.push(agent.socket);
    }
    await Promise.all(sockets.map(gone));
  },
  'an agent that takes requests and leaves them': async (target) => {
    const { call, socket } = await started(target);
    await call(CALL.startLabelled, { Labels: { app: 'bad' } });
    await pause(AFTER_MS);
    socket.pause();
    await gone(socket);
  },
};
