import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';

it('trailers of a request have no field that the edge removes or replaces', async () => {
  const seen: Record<string, unknown>[] = [];
  const upstream = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      seen.push(Object.fromEntries(Object.entries(incoming.trailers)));
      response.end('done');
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const edge = createEdge({
    backends: { app: { static: { address, protocol: 'http2' } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              request_headers: { remove: ['x-role', 'x-team'], add: { 'x-team': 'blue' } },
              backend: { backend_id: 'app' },
            },
          ],
        },
      },
    },
  });
  const listening = await edge.listen();
  onTestFinished(() => void listening.close(0));
  const headers = { host: 'shop.test', 'transfer-encoding': 'chunked' };
  const sent = request({ port: listening.port, host: '127.0.0.1', method: 'POST', headers, agent: false });
  sent.write('content');
  sent.addTrailers({ 'X-Role': 'admin', x_role: 'admin', 'x-team': 'red', 'x-sum': '1' });
  sent.end();
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  await once(response.resume(), 'end');
  expect(seen).toEqual([{ 'x-sum': '1' }]);
});
