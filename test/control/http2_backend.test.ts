import { once } from 'node:events';
import { type IncomingMessage, get as httpGet } from 'node:http';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Listening } from '../../src/edgeproof.ts';
import { type Instance, startInstance } from './instance.ts';

/** A backend with `protocol: http2`, written through the API and by an edge file. */

let instance: Instance;
let address: string;
let listening: Listening;
const upstream = createServer((request, response) => void response.end(`HTTP ${request.httpVersion}`));
beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  instance = await startInstance();
  listening = await instance.management.edge.listen({});
});
afterAll(async () => {
  await listening.close(0);
  await instance.close();
  upstream.close();
});

async function answer(host: string): Promise<string> {
  const request = httpGet({ port: listening.port, host: '127.0.0.1', headers: { host } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

it('is dialled with HTTP/2, and keeps its protocol in an update', async () => {
  const backend = await instance.make('/backends/static', { address, protocol: 'http2' });
  expect(backend.protocol).toBe('http2');
  const edge = await instance.make('/edges/https', { hostports: ['two.test:443'] });
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: backend.id } };
  await instance.make(`/edges/https/${edge.id}/routes`, route);
  expect(await answer('two.test')).toBe('HTTP 2.0');
  const changed = await instance.call('PATCH', `/backends/static/${backend.id}`, { metadata: 'm' });
  expect(changed.body).toMatchObject({ protocol: 'http2', metadata: 'm' });
  const refused = await instance.call('POST', '/backends/static', { address, protocol: 'http3' });
  expect([refused.status, refused.body.details.pointer]).toEqual([400, '/protocol']);
});

it('is dialled with HTTP/2 when it was applied', async () => {
  const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
  const file = {
    backends: { app: { static: { address, protocol: 'http2' } } },
    edges: { https: { shop: { hostports: ['applied.test:443'], routes } } },
  };
  expect((await instance.call('PUT', '/edge_file', file)).status).toBe(200);
  expect(await answer('applied.test')).toBe('HTTP 2.0');
  expect((await instance.call('GET', '/edge_file')).body.document.backends).toMatchObject(file.backends);
});
