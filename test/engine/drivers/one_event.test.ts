import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Edge, type Listening, createEdge } from '../../../src/edgeproof.ts';
import type { HttpRequestComplete, HttpRequestCompleteEvent } from '../../../src/events/catalogue.ts';

/** The behaviour of the upstream, by path prefix. */
const BEHAVIOUR: Readonly<Record<string, (socket: Socket) => void>> = {
  '/ok': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: text/plain\r\n\r\nhello'),
  '/long': (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 20000\r\n\r\n${'a'.repeat(20_000)}`),
  '/half': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello');
    // The bytes must have been forwarded before the cut is noticed.
    upstreamHalf = () => socket.destroy();
  },
  '/hang': () => upstreamReached(),
  '/garbage': (socket) => socket.end('this is not HTTP at all\r\n\r\n'),
  '/reset': (socket) => socket.resetAndDestroy(),
};

let upstreamHalf: () => void = () => {};
let upstreamReached: () => void = () => {};
let upstream: Server;
let edge: Edge;
let listening: Listening;
let events: HttpRequestComplete[] = [];
let waiting: (() => void)[] = [];

beforeAll(async () => {
  upstream = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      const [, path] = /^\S+ (\/[a-z]*)/.exec(text)!;
      text = '';
      BEHAVIOUR[path!]?.(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());

beforeEach(async () => {
  events = [];
  waiting = [];
  const { port } = upstream.address() as AddressInfo;
  const modules = { backend: { backend_id: 'app' }, compression: {} };
  edge = createEdge(
    {
      ip_policies: { nobody: { rules: [] } },
      backends: {
        app: { static: { address: `127.0.0.1:${port}` } },
        dead: { static: { address: '127.0.0.1:1' } },
      },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [
              { match_type: 'path_prefix', match: '/', ...modules },
              { match_type: 'path_prefix', match: '/dead', backend: { backend_id: 'dead' } },
              {
                match_type: 'path_prefix',
                match: '/closed',
                ip_restriction: { ip_policy_ids: ['nobody'] },
                ...modules,
              },
            ],
          },
        },
      },
    },
    {
      onEvent: ({ object }: HttpRequestCompleteEvent) => {
        events.push(object);
        for (const look of waiting) look();
      },
    },
  );
  listening = await edge.listen({
    limits: { headMs: 300, bodyIdleMs: 300, headBytes: 16_384 },
    upstreamLimits: { headMs: 300 },
  });
});
afterEach(() => listening.close(0));

/** Settles with the events once there are `count` of them. */
function seen(count: number): Promise<readonly HttpRequestComplete[]> {
  return new Promise((resolve) => {
    const look = () => {
      if (events.length >= count) resolve(events);
    };
    waiting.push(look);
    look();
  });
}

async function open(): Promise<Socket> {
  const socket = connect(listening.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function send(text: string): Promise<Socket> {
  const socket = await open();
  socket.write(text);
  return socket;
}

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: shop.test\r\n${more}\r\n`;

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

const statusOf = (event: HttpRequestComplete) => event.http.response.status_code;

describe('exactly one event for every request', () => {
  it.each([
    ['answered', request('/ok'), 200],
    ['blocked', request('/closed'), 403],
    ['of no edge', 'GET / HTTP/1.1\r\nhost: other.test\r\n\r\n', 404],
    ['of an ambiguous path', request('/DEAD'), 400],
    ['to a dead upstream', request('/dead'), 502],
    ['to an upstream that hangs', request('/hang'), 504],
    ['to an upstream that resets', request('/reset'), 502],
    ['to an upstream that talks nonsense', request('/garbage'), 502],
    ['malformed', 'GET / HTTP/1.1\r\nhost : shop.test\r\n\r\n', 400],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['with two hosts', 'GET / HTTP/1.1\r\nhost: shop.test\r\nhost: shop.test\r\n\r\n', 400],
    ['with two ways of framing', request('/ok', 'content-length: 1\r\ntransfer-encoding: chunked\r\n'), 400],
    ['of no protocol', 'hello\r\n\r\n', 400],
    ['with a head that is too large', request('/ok', `x-large: ${'a'.repeat(20_000)}\r\n`), 431],
    ['that never ends its head', 'GET / HTTP/1.1\r\nhost: shop.test\r\nx-slow', 408],
    ['for a tunnel', 'CONNECT shop.test:443 HTTP/1.1\r\nhost: shop.test:443\r\n\r\n', 405],
    [
      'with a body that never comes',
      `POST /hang HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 9\r\n\r\n`,
      408,
    ],
  ])('%s', async (_name, bytes, status) => {
    const socket = await send(bytes);
    const replied = textOf(socket);
    const [event] = await seen(1);
    expect(statusOf(event!)).toBe(status);
    // The event agrees with the response that the client received; the connection may stay open for another request.
    socket.end();
    expect(await replied).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await listening.close(0);
    expect(events).toHaveLength(1);
  });

  it('aborted by the client while the upstream is silent', async () => {
    const reached = new Promise<void>((resolve) => (upstreamReached = resolve));
    const socket = await send(request('/hang'));
    await reached;
    socket.destroy();
    const [event] = await seen(1);
    expect(statusOf(event!)).toBe(0);
    await listening.close(0);
    expect(events).toHaveLength(1);
  });

  it('aborted by the client in the middle of its body', async () => {
    const socket = await send('POST /ok HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 100\r\n\r\nhello');
    socket.destroy();
    await seen(1);
    await listening.close(0);
    expect(events).toHaveLength(1);
  });

  it('cut by the upstream in the middle: the client sees that it is incomplete', async () => {
    const socket = await send(request('/half'));
    await once(socket, 'data');
    const closed = once(socket, 'close');
    upstreamHalf();
    await closed;
    const [event] = await seen(1);
    expect(statusOf(event!)).toBe(200);
    expect(event!.http.response.body_length).toBeLessThan(100);
    expect(events).toHaveLength(1);
  });
});

describe('what the event measured', () => {
  it('shows whether the connection to the upstream was reused', async () => {
    const socket = await send(request('/ok'));
    await seen(1);
    socket.write(request('/ok'));
    await seen(2);
    socket.destroy();
    expect(events.map((event) => event.backend.connection_reused)).toEqual([false, true]);
  });

  it('counts the bytes that compression saved, exactly', async () => {
    const socket = await send(request('/long', 'accept-encoding: gzip\r\nconnection: close\r\n'));
    const reply = await textOf(socket);
    const [event] = await seen(1);
    const { algorithm, bytes_saved: saved } = event!.compression;
    const body = Buffer.from(reply.slice(reply.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(reply).toContain(`\r\ncontent-length: ${body.length}\r\n`);
    expect(algorithm).toBe('gzip');
    expect(gunzipSync(body).toString()).toBe('a'.repeat(20_000));
    expect(event!.http.response.body_length).toBe(body.length);
    expect(saved).toBe(20_000 - body.length);
  });

  it('has every specified field', async () => {
    (
      await send(
        'POST /ok?a=B HTTP/1.1\r\nHost: Shop.test\r\nUser-Agent: Mine/1\r\nX-Twice: A\r\nx-twice: B\r\ncontent-length: 3\r\n\r\nabc',
      )
    ).resume();
    const [event] = await seen(1);
    expect(event).toEqual({
      backend: { connection_reused: false },
      basic_auth: { decision: 'invalid', username: '' },
      circuit_breaker: { decision: 'invalid' },
      compression: { algorithm: 'none', bytes_saved: 0 },
      conn: {
        client_ip: '127.0.0.1',
        server_ip: '127.0.0.1',
        server_name: 'shop.test',
        server_port: listening.port,
        start_ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/),
      },
      http: {
        request: {
          body_length: 3,
          headers: {
            Host: ['shop.test'],
            'User-Agent': ['mine/1'],
            'X-Twice': ['a', 'b'],
            'Content-Length': ['3'],
          },
          method: 'post',
          url: {
            host: 'shop.test',
            path: '/ok',
            query: 'a=B',
            raw: 'http://Shop.test/ok?a=B',
            scheme: 'http',
          },
          user_agent: 'Mine/1',
        },
        response: {
          body_length: 5,
          headers: { 'Content-Length': ['5'], 'Content-Type': ['text/plain'], Vary: ['accept-encoding'] },
          status_code: 200,
        },
      },
      ip_policy: { decision: 'invalid' },
      oauth: { app_client_id: '', decision: 'invalid', user: { id: '', name: '' } },
      tls: { cipher_suite: '', client_cert: { serial_number: '', subject: { cn: '' } }, version: '' },
      traffic_policy: { logs: [] },
      webhook_verification: { decision: 'invalid' },
    });
  });
});
