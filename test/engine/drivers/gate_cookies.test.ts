import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, createEdge } from '../../../src/edgeproof.ts';

/** Cookies of the gates below, as a browser would send them, and some cookies of the application. */
const COOKIES = [
  'mine=1',
  '__Host-service.session=SEALED',
  'service.session=SEALED',
  'service.session.1=SEALED',
  'service.nonce=SEALED',
  'service.nonce.abcdefghijklmnopqrstuv=SEALED',
  'other.other.session=SEALED',
  'service.team.session=SEALED',
  'my.session=theirs',
].join('; ');
const KEPT = 'mine=1; my.session=theirs';

const policy = (document: object) => ({ traffic_policy: { value: JSON.stringify(document) } });
const oauth = (prefix?: string) => ({
  oauth: {
    provider: { github: { client_id: 'a', client_secret: 'b' } },
    ...(prefix !== undefined && { cookie_prefix: prefix }),
  },
});

let upstream: Server;
let received: IncomingMessage[] = [];
let sets: string[] = [];
let listening: Listening | null = null;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    received.push(request);
    for (const cookie of sets) response.appendHeader('set-cookie', cookie);
    response.end('reached');
  });
  upstream.on('upgrade', (request, socket) => {
    received.push(request);
    const fields = sets.map((cookie) => `set-cookie: ${cookie}\r\n`).join('');
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${fields}\r\n`,
    );
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());
afterEach(async () => {
  await listening?.close(0);
  listening = null;
  received = [];
  sets = [];
});

async function edge(open: object = {}): Promise<string> {
  const route = (match: string, more: object) => ({
    match_type: 'path_prefix',
    match,
    backend: { backend_id: 'app' },
    ...more,
  });
  const login = {
    type: 'oauth',
    config: { provider: 'github', client_id: 'a', client_secret: 'b', auth_id: 'team' },
  };
  const { port } = upstream.address() as AddressInfo;
  const made = createEdge(
    {
      backends: { app: { static: { address: `127.0.0.1:${port}` } } },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [
              route('/private', oauth()),
              route('/other', oauth('other.')),
              route('/policy', policy({ on_http_request: [{ actions: [login] }] })),
              route('/', open),
            ],
          },
          inner: { hostports: ['inner.internal:443'], routes: [route('/', {})] },
        },
      },
    },
    { adoptHosts: 'any' },
  );
  listening = await made.listen();
  return listening.url;
}

const ask = async (url: string, more: Record<string, string> = {}) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const fields = Object.entries({ host: 'shop.test', connection: 'close', cookie: COOKIES, ...more });
  socket.write(`GET / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
};

describe('cookies of gates', () => {
  it('do not reach the upstream of a route without a gate', async () => {
    expect(await ask(await edge())).toContain('200');
    expect(received[0]!.headers.cookie).toBe(KEPT);
  });

  it('do not reach it on an upgrade, nor in HTTP/2 cookie crumbs', async () => {
    const url = await edge();
    await ask(url, { connection: 'upgrade', upgrade: 'websocket' });
    const session = connectHttp2(url);
    const stream = session.request({ ':path': '/', ':authority': 'shop.test', cookie: COOKIES.split('; ') });
    stream.resume();
    await once(stream, 'end');
    session.destroy();
    expect(received.map((request) => request.headers.cookie)).toEqual([KEPT, KEPT]);
    expect(received[0]!.headers.upgrade).toBe('websocket');
  });

  it('do not reach it through rules that copy them, or an internal endpoint', async () => {
    const copy = {
      type: 'add-headers',
      config: {
        headers: {
          'x-all': "${req.headers['cookie'][0]}",
          'x-one': "${req.cookies['service.session'][0].value}",
          'x-function': "${getReqCookie('service.session').value} ${getReqHeader('cookie')[0]}",
          'x-variable': '${vars.kept}',
          cookie: "${req.headers['cookie'][0]}",
        },
      },
    };
    const keep = { type: 'set-vars', config: { vars: [{ kept: "${req.headers['cookie'].join('')}" }] } };
    const forward = { type: 'forward-internal', config: { url: 'https://inner.internal' } };
    const rules = [{ expressions: ["hasReqCookie('service.session')"], actions: [keep, copy, forward] }];
    expect(await ask(await edge(policy({ on_http_request: rules })))).toContain('200');
    expect(received[0]!.headers['x-variable']).toContain('service.session=***');
    expect(received[0]!.headers.cookie).toContain(KEPT);
    expect(received[0]!.rawHeaders.join('\n')).not.toContain('SEALED');
  });

  it('cannot be set by an upstream, however it spells them', async () => {
    const forged = [
      'service.session=evil',
      '__Host-service.session=evil; Secure; Path=/',
      '__Secure-service.session=evil',
      '__HOST-service.session=evil',
      ' service.session =evil',
      '\tservice.session=evil',
      'Service.Session=evil',
      '"service.session"=evil',
      '=service.session=evil',
      '= __Host-service.session=evil',
      'service.session',
      'service.session.1=evil',
      'service.nonce=evil; Domain=test',
      'service.nonce.abcdefghijklmnopqrstuv=evil',
      'other.other.session=evil',
      'service.team.session=evil',
      'service_session=evil',
    ];
    sets = [...forged, 'mine=2; Path=/', 'my.session=3', 'a="; service.session=x"'];
    const url = await edge();
    for (const text of [await ask(url), await ask(url, { connection: 'upgrade', upgrade: 'websocket' })]) {
      const set = Array.from(text.matchAll(/^set-cookie: (.*)\r$/gim), ([, value]) => value);
      expect(set).toEqual(['mine=2; Path=/', 'my.session=3', 'a="; service.session=x"']);
    }
  });

  it('are not special without a gate', async () => {
    const { port } = upstream.address() as AddressInfo;
    const made = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        edges: {
          https: {
            shop: {
              hostports: ['shop.test:443'],
              routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
            },
          },
        },
      },
      { adoptHosts: 'any' },
    );
    listening = await made.listen();
    sets = ['service.session=mine'];
    expect(await ask(listening.url)).toMatch(/set-cookie: service.session=mine/i);
    expect(received[0]!.headers.cookie).toBe(COOKIES);
  });
});
