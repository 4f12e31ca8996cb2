import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { settled } from '../io/settled.ts';
import { data, FLAG, FRAME, headers, settings, windowUpdate } from './frames.ts';
import { behindRawUpstream } from './raw_upstream.ts';

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

let first = 0;
const greeting = Buffer.concat([settings(), windowUpdate(0, LARGE)]);
const port = await behindRawUpstream(greeting, ({ type, flags, stream, payload }, socket) => {
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

async function send(head: string, bytes = 0): Promise<Socket> {
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
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
