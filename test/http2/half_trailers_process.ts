import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { block, data, frame, FRAME, headers, PREFACE, settings, windowUpdate } from './frames.ts';

/**
 * An edge, and clients that send half of their trailers, read nothing of a large response, and leave. Run with
 * `--expose-gc`; prints `alive` after the sessions were collected.
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
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
for (let time = 0; time < TIMES; time++) {
  const client = connect(listening.port, '127.0.0.1').on('error', () => undefined);
  client.pause();
  const windows = [settings([[4, 0x7fff_ffff]]), windowUpdate(0, 0x7f00_0000)];
  const trailers = frame(FRAME.headers, 1, 1, HALF);
  client.write(Buffer.concat([PREFACE, ...windows, headers(1, HEAD, false), data(1, 'x'), trailers]));
  await pause(100);
  client.destroy();
}
await pause(400);
for (let time = 0; time < 4; time++) {
  global.gc!();
  await pause(20);
}
process.stdout.write('alive');
process.exit();
