import { once } from 'node:events';
import { connect } from 'node:net';
import { block, frame, FRAME, settings } from './frames.ts';
import { behindRawUpstream } from './raw_upstream.ts';

/** An edge, and an upstream whose heads never end, in one process; prints how many requests were refused. */

const TIMES = 15;
const HALF = block([
  [':status', '200'],
  ['x-long', 'v'.repeat(200)],
]);
const MORE = block([['x-a', 'b'.repeat(100)]]);

const port = await behindRawUpstream(settings(), ({ type, stream }, socket) => {
  if (type !== FRAME.headers) return;
  socket.write(frame(FRAME.headers, 0, stream, HALF));
  // Many small writes also cause garbage collections, while the session ends.
  for (let time = 0; time < 3_000; time++) socket.write(frame(FRAME.continuation, 0, stream, MORE));
});
let refused = 0;
for (let time = 0; time < TIMES; time++) {
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
  const [bytes] = (await once(client, 'data')) as [Buffer];
  if (bytes.toString('latin1').startsWith('HTTP/1.1 502')) refused++;
  client.destroy();
}
process.stdout.write(`${refused} of ${TIMES} are refused`);
process.exit();
