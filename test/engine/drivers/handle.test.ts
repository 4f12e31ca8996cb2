import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import { deadAddress } from './scripted_upstream.ts';

let server: Server;
let address: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(request.url === '/none' ? 204 : 201, { 'x-host': request.headers.host ?? '' });
      response.end(request.url === '/none' ? undefined : `${request.method} ${request.url} ${body}`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const edgeTo = (upstream: string) =>
  createEdge({
    backends: { app: { static: { address: upstream } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  });

describe('handle without a scripted upstream', () => {
  it('uses the real one, which sees the requested host', async () => {
    const { response, event } = await edgeTo(address).handle(
      new Request('https://shop.test/a?b=c', { method: 'POST', body: 'hello' }),
    );
    expect(response.status).toBe(201);
    expect(await response.text()).toBe('POST /a?b=c hello');
    expect(response.headers.get('x-host')).toBe('shop.test');
    expect(event.object.http.response.status_code).toBe(201);
  });

  it('passes on a response without a body', async () => {
    const { response } = await edgeTo(address).handle(new Request('https://shop.test/none'));
    expect({ status: response.status, body: response.body }).toEqual({ status: 204, body: null });
  });

  it('responds with 502 when the upstream is unreachable', async () => {
    const { response, trace } = await edgeTo(await deadAddress()).handle(new Request('https://shop.test/'));
    expect(response.status).toBe(502);
    expect(trace.at(-1)!.code).toBe('upstream.connect');
  });
});
