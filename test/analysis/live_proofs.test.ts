import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { type ReadyPropertyName, namedProperty } from '../../src/analysis/ready_properties.ts';
import { createEdge } from '../../src/edgeproof.ts';

const HOSTS = [
  'shop.test',
  'SHOP.TEST',
  'shop.test.',
  'shop.test:8443',
  'a.shop.test',
  'A.Shop.Test.:443',
  '',
  'two.test',
];
const PATHS = [
  '/ops',
  '/ops/',
  '/OPS',
  '/%6fps',
  '/ops%2fx',
  '/./ops',
  '/x/../ops',
  '//ops',
  '/ops;x',
  '/ops?x=1',
  '/ops#f',
  '*',
  'http://shop.test/ops',
  'HTTP://A.SHOP.TEST/ops',
  '/pub/../ops',
  '/pub/%2e%2e/ops',
  '/pub/..%2fops',
  '/%zz',
  '/ops%00',
];
const METHODS = ['GET', 'POST', 'OPTIONS', 'HEAD', 'PROPFIND', 'get'];
const FIELDS = [
  'X-Forwarded-For: 10.0.0.1',
  'Forwarded: for=10.0.0.1',
  'X-Original-URL: /',
  'X-HTTP-Method-Override: GET',
  'Host: a.shop.test',
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Origin: https://x.test\r\nAccess-Control-Request-Method: GET',
  'Authorization: Basic eDp5',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
];

/** Requests as bytes, most of them unusual. */
const REQUESTS = [
  ...HOSTS.flatMap((host) => METHODS.map((method) => request(method, '/ops', host))),
  ...PATHS.flatMap((path) => METHODS.map((method) => request(method, path, 'shop.test'))),
  ...FIELDS.map((field) => request('GET', '/ops', 'shop.test', field)),
  'GET /ops HTTP/1.0\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n${request('GET', '/ops', 'shop.test')}`,
];

function request(method: string, path: string, host: string, field = 'X-A: 1'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${field}\r\n\r\n`;
}

async function send(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.setTimeout(2_000, () => socket.destroy());
  socket.resume();
  socket.write(text, 'latin1');
  await once(socket, 'close');
}

const ops = (more: object, match = '/ops') => ({
  match_type: 'path_prefix',
  match,
  backend: { backend_id: 'ops' },
  ...more,
});
const rules = (...list: readonly object[]) => ({
  traffic_policy: { value: JSON.stringify({ on_http_request: list }) },
});
const act = (type: string, config: object, ...expressions: readonly string[]) => ({
  expressions,
  actions: [{ type, config }],
});
const office = { ip_restriction: { ip_policy_ids: ['office'] } };
const basic = act('basic-auth', { credentials: ['ann:password1'] });
const STRANGERS = ['backend-only-from', { backend: 'ops', ranges: ['10.0.0.0/8'] }] as const;
const GATED = ['backend-needs-gate', { backend: 'ops', gates: ['basic-auth'] }] as const;

/** Edges for which a property is proved that every request of this machine would break. */
const CLOSED: readonly (readonly [
  name: string,
  routes: readonly object[],
  typeof STRANGERS | typeof GATED,
])[] = [
  ['a gate on a prefix', [ops(office)], STRANGERS],
  ['a gate for two hosts', [ops(office), ops(office, 'a.shop.test/ops')], STRANGERS],
  ['ranges of an action', [ops(rules(act('restrict-ips', { allow: ['10.0.0.0/8'] })))], STRANGERS],
  ['a condition', [ops(rules(act('deny', {}, "!inCidrRange(conn.client_ip, '10.0.0.0/8')")))], STRANGERS],
  ['a gate for all paths', [ops(rules(act('restrict-ips', { allow: ['10.0.0.0/8'] })), '/')], STRANGERS],
  ['a password', [ops(rules(basic))], GATED],
  ['a password by path', [ops(rules({ ...basic, expressions: ["req.url.path.startsWith('/ops')"] }))], GATED],
];

test.each(CLOSED)(
  'no request that is sent reaches what is proved to be closed: %s',
  { timeout: 120_000 },
  async (_name, routes, [use, values]) => {
    const reached: string[] = [];
    let others = 0;
    const isWhole = JSON.stringify(routes).includes('"match":"/"');
    const [app, closed] = [
      createServer((_request, response) => {
        others++;
        response.end();
      }),
      createServer(),
    ];
    closed.on('request', ({ method, url }, response) => {
      reached.push(`${method} ${url}`);
      response.end();
    });
    const addresses = await Promise.all(
      [app, closed].map(async (server) => {
        await once(server.listen(0, '127.0.0.1'), 'listening');
        return `localhost:${(server.address() as AddressInfo).port}`;
      }),
    );
    const edge = createEdge({
      ip_policies: { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } },
      backends: { app: { static: { address: addresses[0] } }, ops: { static: { address: addresses[1] } } },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443', '*.shop.test:443'],
            routes: isWhole ? routes : [ops({ backend: { backend_id: 'app' } }, '/'), ...routes],
          },
        },
      },
    });
    expect(prove(edge.config, namedProperty(use satisfies ReadyPropertyName, values))).toMatchObject({
      verdict: 'PROVED',
    });
    const listening = await edge.listen();
    try {
      for (let at = 0; at < REQUESTS.length; at += 20)
        await Promise.all(REQUESTS.slice(at, at + 20).map((text) => send(listening.port, text)));
    } finally {
      await listening.close();
      for (const server of [app, closed]) {
        server.close();
        server.closeAllConnections();
      }
    }
    expect(reached).toEqual([]);
    // Requests do get through where no gate is.
    expect(others > 0).toBe(!isWhole);
  },
);
