import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { settled } from '../io/settled.ts';
import {
  data,
  FLAG,
  FRAME,
  frameReader,
  headers,
  PREFACE,
  settings,
  SETTINGS_ACK,
  windowUpdate,
} from './frames.ts';

/**
 * An edge, and an upstream with which two uploads share a session: one waits for its window, the other fills everything
 * that the system holds, because the upstream stops reading. Then the upstream responds to the first, gives it a window, and reads
 * again. Prints `alive` if a request is served afterwards.
 */

const OK = [[':status', '200']] as const;
const LARGE = 2 ** 30;
/** The window of a stream at first (RFC 9113 §6.9.2). */
const WINDOW_BYTES = 65_535;
/** More than the window has room for. */
const WAITING_BYTES = 200_000;
/** More than the system holds. */
const FILLING_BYTES = 64_000_000;

interface Upload {
  readonly socket: Socket;
  readonly stream: number;
}

const waiting = Promise.withResolvers<Upload>();
const filling = Promise.withResolvers<Upload>();
/** Received bytes of the upload that waits. */
let received = 0;

const upstream = createServer((socket) => {
  let preface = PREFACE.length;
  let first = 0;
  const read = frameReader(({ type, flags, stream, payload }) => {
    if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
    if (type === FRAME.data && stream === first && (received += payload.length) === WINDOW_BYTES)
      waiting.resolve({ socket, stream });
    if (type !== FRAME.headers) return;
    if ((flags & FLAG.endStream) !== 0) socket.write(headers(stream, OK));
    else if (first === 0) first = stream;
    else {
      socket.write(windowUpdate(stream, LARGE));
      filling.resolve({ socket: socket.pause(), stream });
    }
  });
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([settings(), windowUpdate(0, LARGE)]));
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

async function send(head: string, bytes = 0): Promise<Socket> {
  const client = connect(listening.port, '127.0.0.1').on('error', () => undefined);
  await once(client, 'connect');
  client.write(`${head}\r\nHost: a.test\r\nContent-Length: ${bytes}\r\n\r\n`);
  client.write(Buffer.alloc(bytes));
  return client;
}

const one = await send('POST /waits HTTP/1.1', WAITING_BYTES);
const { socket, stream } = await waiting.promise;
const other = await send('POST /fills HTTP/1.1', FILLING_BYTES);
await filling.promise;
await settled(() => other.bytesWritten - other.writableLength);
socket.write(Buffer.concat([headers(stream, OK, false), data(stream, 'enough', true)]));
await once(one, 'data');
await new Promise((resolve) => void setTimeout(resolve, 50));
socket.write(windowUpdate(stream, LARGE));
await new Promise((resolve) => void setTimeout(resolve, 50));
socket.resume();
await settled(() => other.bytesWritten - other.writableLength, FILLING_BYTES);
const next = await send('GET /next HTTP/1.1');
await once(next, 'data');
process.stdout.write('alive');
process.exit();
