import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { createEdge } from '../../src/edgeproof.ts';
import { bothEnds } from '../io/both_ends.ts';
import { settled } from '../io/settled.ts';
import { block, data, frame, FRAME, headers, PREFACE, settings, windowUpdate } from './frames.ts';

/**
 * An edge, and clients that send half of their trailers, read nothing of a large response, and leave. Run with
 * `--expose-gc`; prints `alive` after their connections were collected.
 */

const TIMES = 6;
const HEAD = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
] as const;
const HALF = block([['x-long', 'v'.repeat(200)]]);

const upstream = createServer((socket) => {
  socket.on('error', () => undefined).resume();
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n');
  socket.write(Buffer.alloc(20_000_000));
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
const edge = createEdge({
  backends: { app: { static: { address } } },
  edges: { https: { a: { hostports: ['a.test:443'], routes: [route] } } },
});
const listening = await edge.listen({ limits: { writeIdleMs: 200, bodyIdleMs: 200, lingerMs: 100 } });
const closed: Promise<unknown>[] = [];
const ends: WeakRef<Socket>[] = [];
async function leave(): Promise<void> {
  const [{ socket: client }, listeners] = await bothEnds(async () => {
    const socket = connect(listening.port, '127.0.0.1').on('error', () => undefined);
    await once(socket.pause(), 'connect');
    return { socket };
  });
  ends.push(new WeakRef(listeners));
  // Some end by a reset.
  closed.push(new Promise((resolve) => void listeners.once('close', resolve)));
  const windows = [settings([[4, 0x7fff_ffff]]), windowUpdate(0, 0x7f00_0000)];
  const trailers = frame(FRAME.headers, 1, 1, HALF);
  client.write(Buffer.concat([PREFACE, ...windows, headers(1, HEAD, false), data(1, 'x'), trailers]));
  // More of the response than the frames at the beginning: it waits for the client.
  await settled(() => listeners.bytesWritten, 100_000);
  client.destroy();
}
for (let time = 0; time < TIMES; time++) await leave();
await Promise.all(closed);
const areKept = (): boolean => ends.some((end) => end.deref() !== undefined);
// A timer that has not ended yet may keep the last.
for (let looks = 0; looks < 500 && areKept(); looks++) {
  await after(20);
  global.gc!();
}
process.stdout.write(areKept() ? 'connections are kept' : 'alive');
process.exit();
