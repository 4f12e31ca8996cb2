import { once } from 'node:events';
import { connect, constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';

const STREAMS = 3;

it('a client that leaves before it reads a response frees the stream of the upstream', async () => {
  const upstream = createServer({ settings: { maxConcurrentStreams: STREAMS } });
  let sessions = 0;
  let answered: () => void = () => undefined;
  upstream.on('session', () => void sessions++);
  upstream.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 });
    // It fits the window of the edge, so that the upstream has done its part.
    stream.end(Buffer.alloc(200_000), () => answered());
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const edge = createEdge({
    backends: { app: { static: { address, protocol: 'http2' } } },
    edges: {
      https: {
        a: {
          hostports: ['a.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  });
  const listening = await edge.listen({});
  for (let time = 0; time < 3 * STREAMS; time++) {
    const whole = new Promise<void>((resolve) => void (answered = resolve));
    const client = connect(listening.url, { settings: { initialWindowSize: 0 } });
    const stream = client.request({ ':path': '/', ':authority': 'a.test' });
    await once(stream, 'response');
    await whole;
    stream.on('error', () => undefined).close(constants.NGHTTP2_CANCEL);
    client.close();
    await once(client, 'close');
  }
  expect(sessions).toBe(1);
  await listening.close(0);
  upstream.close();
});
