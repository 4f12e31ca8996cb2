import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { CLIENT_STREAM_BYTES, UPSTREAM_STREAM_BYTES } from '../../src/http2/limits.ts';
import type { Listening } from '../../src/listening.ts';
import { data, FLAG, FRAME, type Frame, frameReader, headers, PREFACE, request } from './frames.ts';
import { settings, SETTINGS_ACK } from './frames.ts';

const INITIAL_WINDOW_SIZE = 4;
const FRAME_BYTES = 16_384;

/** An upstream that sends as much of a response as the windows of the edge allow. */
let sent = 0;
const upstream = createServer((socket) => serveAll(socket));
let listening: Listening;

function serveAll(socket: Socket): void {
  let preface = PREFACE.length;
  let window = 0;
  let id = 0;
  const send = (): void => {
    for (; id !== 0 && window >= FRAME_BYTES; window -= FRAME_BYTES) {
      socket.write(data(id, Buffer.alloc(FRAME_BYTES)));
      sent += FRAME_BYTES;
    }
  };
  const read = frameReader(({ type, flags, stream, payload }) => {
    if (type === FRAME.settings && (flags & FLAG.ack) === 0) {
      window = initialWindow(payload)!;
      socket.write(SETTINGS_ACK);
    }
    if (type === FRAME.window && id !== 0 && stream === id) window += payload.readUInt32BE(0);
    if (type === FRAME.headers) {
      id = stream;
      socket.write(headers(id, [[':status', '200']], false));
    }
    send();
  });
  socket.on('error', () => undefined).write(settings());
  socket.on('data', (bytes: Buffer) => {
    const skipped = Math.min(preface, bytes.length);
    preface -= skipped;
    read(bytes.subarray(skipped));
  });
}

function initialWindow(payload: Buffer): number | undefined {
  for (let at = 0; at < payload.length; at += 6)
    if (payload.readUInt16BE(at) === INITIAL_WINDOW_SIZE) return payload.readUInt32BE(at + 2);
  return undefined;
}

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
  const edge = createEdge({
    backends: { app: { static: { address, protocol: 'http2' } } },
    edges: { https: { a: { hostports: ['a.test:443'], routes: [route] } } },
  });
  listening = await edge.listen({});
});
afterAll(async () => {
  await listening.close(0);
  upstream.close();
});

it('a client with a window of nothing makes the edge hold one window of its upstream', async () => {
  const client = connect(listening.port, '127.0.0.1');
  const frames: Frame[] = [];
  client.on(
    'data',
    frameReader((each) => void frames.push(each)),
  );
  client.write(Buffer.concat([PREFACE, settings([[INITIAL_WINDOW_SIZE, 0]]), request(1, '/')]));
  await expect.poll(() => frames.some(({ type }) => type === FRAME.headers)).toBe(true);
  await expect.poll(() => sent).toBeGreaterThanOrEqual(UPSTREAM_STREAM_BYTES);
  expect(sent).toBeLessThanOrEqual(1.5 * UPSTREAM_STREAM_BYTES);
  const offered = frames.find(({ type, flags }) => type === FRAME.settings && flags === 0)!;
  expect(initialWindow(offered.payload)).toBe(CLIENT_STREAM_BYTES);
  client.destroy();
});
