import { once } from 'node:events';
import { type IncomingMessage, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { heardBy, requestLog } from '../../src/cli/request_log.ts';
import { folderWith } from '../folder.ts';
import { type Running, edgeproof, start } from './command.ts';

const app = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: 1\n\n');
});
const sockets = new WebSocketServer({ server: app });
beforeAll(async () => {
  app.listen(0, '127.0.0.1');
  await once(app, 'listening');
});
afterAll(() => {
  sockets.close();
  app.closeAllConnections();
  app.close();
});

const edge = () => `backends:
  app: { static: { address: '127.0.0.1:${(app.address() as AddressInfo).port}' } }
  here: { http_response: { status_code: 200 } }
ip_policies: { office: { rules: [{ cidr: 127.0.0.0/8, action: deny }] } }
edges:
  https:
    shop:
      hostports: ['shop.localhost:443']
      routes:
        - { match_type: path_prefix, match: /, backend: { backend_id: app } }
        - { match_type: path_prefix, match: /here, backend: { backend_id: here } }
        - match_type: path_prefix
          match: /no
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: here }
`;

/** Opens a WebSocket and an event stream, reads their lines, closes both, and reads the lines of their ends. */
async function seesStreams(url: string, running: Running): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket?a=b`);
  await once(socket, 'open');
  await running.waitFor(
    /GET {5}101 +open {2}allow {2}127\.0\.0\.1\/socket\?a=b {2}→ app {2}WebSocket open\n/,
  );
  socket.close();
  await running.waitFor(/GET {5}101 +<?\d+ ms {2}allow {2}.*\/socket\?a=b {2}→ app {2}WebSocket closed\n/);
  const [response] = (await once(get(`${url}/events`), 'response')) as [IncomingMessage];
  await running.waitFor(/GET {5}200 +open {2}allow {2}.*\/events {2}→ app {2}event stream open\n/);
  response.destroy();
  await running.waitFor(/GET {5}200 +<?\d+ ms {2}allow {2}.*\/events {2}→ app {2}event stream closed\n/);
}

it('dev shows WebSockets and event streams when they open and when they close', async () => {
  const dev = start(['dev', '--port', '0', '--no-inspector'], folderWith({ 'edge.yaml': edge() }));
  const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await seesStreams(url!, dev);
  await fetch(`${url}/here`);
  await dev.waitFor(/\/here {2}→ here\n/);
  expect(dev.output()).not.toMatch(/\/here.*open/);
  expect(await dev.stop('SIGTERM')).toBe(0);
});

it('dev --api logs the names of the edge file, and descriptions of objects without one', async () => {
  const folder = folderWith({ 'edge.yaml': edge() });
  const dev = start(['dev', '--port', '0', '--no-inspector', '--api', '0'], folder);
  const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  const [, api] = await dev.waitFor(/management API (http:\S+)/);
  const [, key] = await dev.waitFor(/admin key, shown only once: (\S+)/);
  await seesStreams(url!, dev);
  await fetch(`${url}/no`);
  await dev.waitFor(/stop {3}.*\/no {2}ip_restriction\.denied office#\d/);
  const headers = {
    authorization: `Bearer ${key}`,
    'service-version': '2',
    'content-type': 'application/json',
  };
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const made = (await response.json()) as Record<string, string>;
    expect({ path, status: response.status, made }).toMatchObject({ status: 201 });
    return made;
  };
  const { id } = await post('/backends/http_response', { description: 'Closed\u001b[31m', status_code: 404 });
  const found = (await (await fetch(`${api}/edges/https`, { headers })).json()) as {
    readonly https_edges: readonly { readonly id: string }[];
  };
  const route = { match_type: 'path_prefix', match: '/closed', backend: { backend_id: id } };
  await post(`/edges/https/${found.https_edges[0]!.id}/routes`, route);
  await fetch(`${url}/closed`);
  await dev.waitFor(new RegExp(`/closed {2}→ ${id} \\(Closed\\?\\[31m\\)\\n`));
  expect(await dev.stop('SIGTERM')).toBe(0);
});

it('serve --log prints the same lines', async () => {
  const folder = folderWith({ 'edge.yaml': edge() });
  const args = ['serve', '--port', '0', '--api-port', '0', '--no-tls', '--store', 'store.db'];
  const serve = start([...args, '--log'], folder);
  const [, url] = await serve.waitFor(/edge (http:\S+)/);
  const [, api] = await serve.waitFor(/management API (http:\S+)/);
  const [, key] = await serve.waitFor(/admin key, shown only once: (\S+)/);
  const applied = await edgeproof(['apply', 'edge.yaml', '--url', api!], folder, { EDGEPROOF_API_KEY: key! });
  expect(applied).toMatchObject({ code: 0 });
  const response = await new Promise<number>((resolve) => {
    get(`${url}/here`, { headers: { host: 'shop.localhost' } }, (got) => {
      got.resume();
      resolve(got.statusCode!);
    });
  });
  expect(response).toBe(200);
  await serve.waitFor(/GET {5}200 .*shop\.localhost\/here {2}→ here\n/);
  expect(await serve.stop('SIGTERM')).toBe(0);
});

it('no event is made for lines alone', () => {
  const log = requestLog(
    { log: () => {}, heard: () => {}, color: false },
    { nameOf: String, unreached: () => {} },
  );
  expect(heardBy(log, {}).onEvent).toBeUndefined();
  expect(heardBy(log, { onEvent: () => {} }).onEvent).toBeDefined();
});
