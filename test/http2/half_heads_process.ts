import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { block, FLAG, frame, FRAME, frameReader, PREFACE, settings, SETTINGS_ACK } from './frames.ts';

/** An edge, and an upstream whose heads never end, in one process; prints how many requests were refused. */

const TIMES = 15;
const HALF = block([
  [':status', '200'],
  ['x-long', 'v'.repeat(200)],
]);
const MORE = block([['x-a', 'b'.repeat(100)]]);

const upstream = createServer((socket) => {
  let preface = PREFACE.length;
  const read = frameReader(({ type, flags, stream }) => {
    if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
    if (type !== FRAME.headers) return;
    socket.write(frame(FRAME.headers, 0, stream, HALF));
    // Many small writes also cause garbage collections, while the session ends.
    for (let time = 0; time < 3_000; time++) socket.write(frame(FRAME.continuation, 0, stream, MORE));
  });
  socket.on('error', () => undefined).write(settings());
  socket.on('data', (bytes: Buffer) => {
    const skipped = Math.min(preface, bytes.length);
    preface -= skipped;
    read(bytes.subarray(skipped));
  });
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
const edge = createEdge({
  backends: { app: { static: { address, protocol: 'http2' } } },
  edges: { https: { a: { hostports: ['a.test:443'], routes: [route] } } },
});
const listening = await edge.listen({});
let refused = 0;
for (let time = 0; time < TIMES; time++) {
  const client = connect(listening.port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
  const [bytes] = (await once(client, 'data')) as [Buffer];
  if (bytes.toString('latin1').startsWith('HTTP/1.1 502')) refused++;
  client.destroy();
}
process.stdout.write(`${refused} of ${TIMES} are refused`);
process.exit();
