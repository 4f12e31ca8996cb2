import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { contentOf } from '../io/content_of.ts';
import { FRAME, frameReader, PREFACE, request, settings, SETTINGS_ACK, windowUpdate } from './frames.ts';

/** Answers `/A/60` with 60 times A. */
const upstream = createServer((message, response) => {
  const [, letter, count] = message.url!.split('/');
  response.end(Buffer.alloc(Number(count), letter));
});
let connections = 0;
upstream.on('connection', () => connections++);
let listening: Listening;

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
  const edge = createEdge({
    backends: { app: { static: { address: `127.0.0.1:${port}` } } },
    edges: { https: { a: { hostports: ['a.test:443'], routes } } },
  });
  listening = await edge.listen();
});
afterAll(async () => {
  await listening.close(0);
  upstream.close();
});

/** The content of another client's response, over the connection to the upstream that is free. */
const other = (path: string): Promise<string> => contentOf(listening.port, path);

it.each([60, 4_000, 5_000, 16_384, 40_000])(
  'content of %i bytes that waits for its window is not overwritten by the response of another client',
  async (length) => {
    connections = 0;
    const socket = connect(listening.port, '127.0.0.1');
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    let content = '';
    socket.on(
      'data',
      frameReader(({ type, flags, stream, payload }) => {
        if (type === FRAME.headers) begun.resolve();
        if (type === FRAME.data) content += payload.toString('latin1');
        if (stream === 1 && type === FRAME.data && (flags & 1) !== 0) ended.resolve();
      }),
    );
    socket.write(Buffer.concat([PREFACE, settings([[4, 0]]), SETTINGS_ACK]));
    socket.write(request(1, `/A/${length}`));
    await begun.promise;
    expect(await other(`/B/${length}`)).toBe('B'.repeat(length));
    expect(await other(`/B/${length}`)).toBe('B'.repeat(length));
    socket.write(windowUpdate(1, 100_000));
    await ended.promise;
    expect(content.replaceAll('A', '')).toBe('');
    expect(content).toHaveLength(length);
    socket.destroy();
  },
);
