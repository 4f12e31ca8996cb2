import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';

const reached: string[] = [];
const server = createServer(({ url = '' }, response) => {
  reached.push(url);
  const to = new URL(url, 'http://a').searchParams.get('to');
  if (to === null) response.end('inside');
  else response.writeHead(302, { location: to }).end();
});

beforeEach(async () => {
  reached.length = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** What a client gets whose address the policy asks. */
async function asked(url: string, allowPrivateFetch: boolean): Promise<[number, string]> {
  const policy = {
    on_http_request: [
      {
        actions: [
          { type: 'http-request', config: { url, on_error: 'halt', max_redirects: 2 } },
          { type: 'custom-response', config: { body: '${actions.service.http_request.res.body}' } },
        ],
      },
    ],
  };
  const edge = createEdge(
    {
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [
              { match_type: 'path_prefix', match: '/', traffic_policy: { value: JSON.stringify(policy) } },
            ],
          },
        },
      },
    },
    { allowPrivateFetch, adoptHosts: 'any' },
  );
  const listening = await edge.listen();
  try {
    const response = await fetch(listening.url);
    return [response.status, await response.text()];
  } finally {
    await listening.close(0);
  }
}

it('a request of a policy does not reach this machine by address or by name', async () => {
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
    const [status, text] = await asked(`http://${host}:${port}/`, false);
    expect([status, text.includes('ERR_SERVICE_2300')]).toEqual([500, true]);
  }
  expect(reached).toEqual([]);
});

it('but does if allowed, through redirects, too', async () => {
  const { port } = server.address() as AddressInfo;
  const to = encodeURIComponent(`http://localhost:${port}/end`);
  expect(await asked(`http://127.0.0.1:${port}/?to=${to}`, true)).toEqual([200, 'inside']);
  expect(reached).toEqual([`/?to=${to}`, '/end']);
});
