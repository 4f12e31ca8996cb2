import { once } from 'node:events';
import { createServer as createHttp, request as send } from 'node:http';
import { connect, createServer as createHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/index.ts';

/** Everything that an application can read of a request is what the edge made of it. */

const edge = (): Edge =>
  createEdge(
    {
      backends: { app: { static: { address: '127.0.0.1:9' } } },
      edges: {
        https: {
          app: {
            hostports: ['app.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                request_headers: { remove: ['x-role'], add: { 'x-role': 'guest', 'x-more': 'yes' } },
                backend: { backend_id: 'app' },
              },
            ],
          },
        },
      },
    },
    { adoptHosts: 'any' },
  );

const FORGED = { 'service-auth-user-id': 'boss', 'x-role': 'boss', 'x-a': '1', 'x-b': '2', 'x-c': '3' };

type Reads = Record<
  'headers' | 'rawHeaders' | 'headersDistinct' | 'trailers' | 'rawTrailers' | 'trailersDistinct',
  unknown
>;

it('has no field of the client that the edge dropped, whatever was read before, and no trailers', async () => {
  let read: Reads | null = null;
  const through = edge().node((request, response) => {
    request.resume();
    request.on('end', () => {
      const { headers, rawHeaders, headersDistinct, trailers, rawTrailers, trailersDistinct } = request;
      read = { headers, rawHeaders, headersDistinct, trailers, rawTrailers, trailersDistinct };
      response.end('ok');
    });
  });
  const server = createHttp((request, response) => {
    // As middleware that logs requests does.
    expect(request.headersDistinct['x-role']).toEqual(['boss']);
    through(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = send({
    port: (server.address() as AddressInfo).port,
    method: 'POST',
    headers: { ...FORGED, trailer: 'service-auth-user-id', 'transfer-encoding': 'chunked' },
  });
  client.write('content');
  client.addTrailers({ 'service-auth-user-id': 'boss' });
  client.end();
  const [response] = await once(client, 'response');
  response.resume();
  await once(response, 'end');
  expect(JSON.stringify(read)).not.toContain('boss');
  expect(read!.headers).toMatchObject({ 'x-role': 'guest', 'x-more': 'yes', 'x-c': '3' });
  expect(read!.headersDistinct).toMatchObject({ 'x-role': ['guest'], 'x-more': ['yes'], 'x-c': ['3'] });
  server.close();
});

it('works over HTTP/2', async () => {
  const through = edge().node((request, response) => {
    response.end(JSON.stringify([request.url, request.headers]));
  });
  const server = createHttp2((request, response) => through(request as never, response as never));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stream = session.request({ ':path': '//a', ...FORGED });
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  expect(JSON.parse(text)).toEqual(['/a', expect.objectContaining({ 'x-role': 'guest', 'x-more': 'yes' })]);
  expect(text).not.toContain('boss');
  session.close();
  server.close();
});
