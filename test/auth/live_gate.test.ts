import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { type Listening, createEdge } from '../../src/edgeproof.ts';
import { browserOf } from './browser.ts';
import { SECRET, evilOp } from './evil_op.ts';
import { ISSUER } from './gate_edge.ts';

/** What passes a gate on real sockets, and with which fields. */

let upstream: Server;
let listening: Listening;
let cookie: string;
let received: { method: string; url: string; fields: Record<string, string[]> }[] = [];

const record = ({ method, url, headersDistinct }: IncomingMessage): void =>
  void received.push({ method: method!, url: url!, fields: headersDistinct as Record<string, string[]> });

beforeAll(async () => {
  upstream = createServer((request, response) => {
    record(request);
    request.resume();
    response.end('the app');
  });
  upstream.on('upgrade', (request, socket) => {
    record(request);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const op = evilOp({}, Date.now);
  const oidc = { issuer: ISSUER, client_id: 'edge', client_secret: SECRET };
  const route = (match: string, more: object) => ({
    match_type: 'path_prefix',
    match,
    oidc: { ...oidc, ...more },
    backend: { backend_id: 'web' },
  });
  const edge = createEdge(
    {
      edges: {
        https: {
          app: {
            hostports: ['app.test:443'],
            routes: [route('/', {}), route('/open', { options_passthrough: true })],
          },
        },
      },
      backends: { web: { static: { address: `127.0.0.1:${(upstream.address() as AddressInfo).port}` } } },
    },
    { adoptHosts: 'any', clients: { oidc: createOidcAnswers(op.fetch).ask } },
  );
  listening = await edge.listen();
  const browser = browserOf(edge, 'app.test');
  await browser.go(op.approve((await browser.go('http://app.test/')).location!));
  cookie = await browser.jar.getCookieString('http://app.test/');
});
beforeEach(() => void (received = []));
afterAll(async () => {
  await listening.close(0);
  upstream.close();
});

async function send(start: string, fields: readonly string[], rest = ''): Promise<string> {
  const { hostname, port } = new URL(listening.url);
  const socket = connect(Number(port), hostname);
  // A program, which is not redirected to the provider: there is no network here.
  const all = ['host: app.test', 'accept: application/json', ...fields];
  const lines = [`${start} HTTP/1.1`, ...all, '', rest].join('\r\n');
  socket.write(lines);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

const FORGED = [
  'Service-Auth-User-Id: evil',
  'SERVICE-AUTH-USER-NAME: evil',
  'service_auth_user_email: evil',
  'service.auth.user.id: evil',
  'service-auth_user~id: evil',
  'service-auth-groups: evil',
];
const UPGRADE = [
  'upgrade: websocket',
  'sec-websocket-version: 13',
  `sec-websocket-key: ${btoa('0123456789abcdef')}`,
];

describe('without a login nothing reaches the upstream', () => {
  it.each([
    ['GET /', []],
    ['HEAD /', []],
    ['OPTIONS /', []],
    ['OPTIONS *', []],
    ['TRACE /', []],
    ['CONNECT app.test:443', []],
    ['GET /', ['connection: upgrade', ...UPGRADE]],
    ['GET //auth//../x', []],
    ['GET /AUTH/logout', []],
    ['POST /open', ['x-http-method-override: OPTIONS', 'content-length: 0']],
    ['GET /', ['cookie: service.session=', 'cookie: service.session=9~x']],
  ])('%s %j', async (start, fields) => {
    const isUpgrade = fields.includes('connection: upgrade');
    const text = await send(start, [...fields, ...(isUpgrade ? [] : ['connection: close'])]);
    expect(text).toMatch(/^HTTP\/1\.1 40[015]/);
    expect(received).toEqual([]);
  });

  it('OPTIONS passes if configured, with neither identity nor cookies', async () => {
    await send('OPTIONS /open', ['connection: close', `cookie: ${cookie}; a=1`, ...FORGED]);
    expect(received).toHaveLength(1);
    expect(received[0]!.fields['cookie']).toEqual(['a=1']);
    expect(Object.keys(received[0]!.fields).filter((name) => /auth/i.test(name))).toEqual([]);
  });
});

describe('with a login the identity is that of the session', () => {
  const ALICE = { 'service-auth-user-id': ['alice'], 'service-auth-user-name': ['Alice'] };
  const identity = () => {
    const { fields } = received[0]!;
    const all = Object.entries(fields).filter(([name]) => /auth|evil/i.test(name));
    return Object.fromEntries(all.filter(([name]) => !name.endsWith('-email')));
  };

  it.each([
    ['forged fields', FORGED],
    ['fields named as hop-by-hop', ['connection: service-auth-user-id, service-auth-user-name, cookie']],
    ['both', ['connection: service-auth-user-id', ...FORGED]],
    ['several connection fields', ['connection: close', 'connection: service-auth-user-id']],
  ])('despite %s', async (_name, fields) => {
    const close = fields.some((field) => field.startsWith('connection')) ? [] : ['connection: close'];
    const { hostname, port } = new URL(listening.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      [`GET /x HTTP/1.1`, 'host: app.test', `cookie: ${cookie}`, ...fields, ...close, '', ''].join('\r\n'),
    );
    await once(socket, 'data');
    socket.destroy();
    expect(identity()).toEqual(ALICE);
    expect(received[0]!.fields['cookie']).toBeUndefined();
  });

  it('despite trailers', async () => {
    const fields = ['connection: close', `cookie: ${cookie}`, 'transfer-encoding: chunked'];
    await send('POST /', fields, '1\r\na\r\n0\r\nservice-auth-user-id: evil\r\n\r\n');
    expect(identity()).toEqual(ALICE);
  });

  it('on an upgrade', async () => {
    const text = await send('GET /', [
      'connection: upgrade, service-auth-user-id',
      `cookie: ${cookie}`,
      ...UPGRADE,
      ...FORGED,
    ]);
    expect(text).toMatch(/^HTTP\/1\.1 101/);
    expect(identity()).toEqual(ALICE);
  });

  it('over HTTP/2, with a cookie in crumbs', async () => {
    const session = connectHttp2(listening.url);
    const fields = {
      ':path': '/',
      ':authority': 'app.test',
      cookie: cookie.split('; ').flatMap((each) => [each, 'a=1']),
    };
    const stream = session.request({ ...fields, 'service-auth-user-id': 'evil' });
    stream.resume();
    await once(stream, 'end');
    session.destroy();
    expect(identity()).toEqual(ALICE);
    expect(received[0]!.fields['cookie']).toEqual(['a=1; a=1']);
  });

  it.each([
    ['a cookie that is there twice', () => `${cookie}; ${cookie}`],
    ['a cookie without its last character', () => cookie.slice(0, -1)],
    ['a cookie after another of its name', () => `service.session=x; ${cookie}`],
  ])('not with %s', async (_name, sent) => {
    expect(await send('GET /', ['connection: close', `cookie: ${sent()}`])).toMatch(/^HTTP\/1\.1 401/);
    expect(received).toEqual([]);
  });
});
