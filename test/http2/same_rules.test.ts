import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { FRAME, frameReader, PREFACE, request, settings } from './frames.ts';

/** A head that both protocols can express: `authority` is the Host field of HTTP/1.1. */
interface Head {
  readonly method: string;
  readonly target: string;
  readonly authority?: string;
  readonly more?: readonly (readonly [string, string])[];
}

const get = (more: readonly (readonly [string, string])[], target = '/'): Head => ({
  method: 'GET',
  target,
  more,
});

// table: heads, with the status and the reason that both protocols give
const HEADS: readonly (readonly [name: string, head: Head, told: string])[] = [
  ['GET', { method: 'GET', target: '/' }, '200 upstream.answered'],
  ['a registered method', { method: 'PROPFIND', target: '/' }, '200 upstream.answered'],
  ['delete', { method: 'delete', target: '/' }, '405 request.method'],
  ['Get', { method: 'Get', target: '/' }, '405 request.method'],
  ['FOO', { method: 'FOO', target: '/' }, '405 request.method'],
  ['TRACE', { method: 'TRACE', target: '/' }, '405 request.method'],
  ['an asterisk', { method: 'OPTIONS', target: '*' }, '400 request.malformed'],
  ['an asterisk of GET', { method: 'GET', target: '*' }, '400 request.malformed'],
  ['a target in Latin-1', { method: 'GET', target: '/\xe4' }, '400 request.malformed'],
  ['a broken escape', { method: 'GET', target: '/%zz' }, '400 request.malformed'],
  ['a fragment', { method: 'GET', target: '/a#b' }, '400 request.malformed'],
  [
    'a target that is too long',
    { method: 'GET', target: `/${'a'.repeat(66_000)}` },
    '414 request.target_too_long',
  ],
  ['a long target', { method: 'GET', target: `/${'a'.repeat(60_000)}` }, '200 upstream.answered'],
  ['userinfo', { method: 'GET', target: '/', authority: 'u@a.test' }, '400 request.malformed'],
  ['no host name', { method: 'GET', target: '/', authority: 'a b' }, '400 request.malformed'],
  ['another expectation', get([['expect', 'wonders']]), '417 request.expectation'],
  [
    'two expectations',
    get([
      ['expect', '100-continue'],
      ['expect', 'wonders'],
    ]),
    '417 request.expectation',
  ],
  ['Latin-1 in a value', get([['x-a', 'caf\xe9']]), '200 upstream.answered'],
];

describe('heads mean the same in HTTP/1.1 and HTTP/2', () => {
  let edge: Edge;
  let listening: Listening;
  let told: string[] = [];
  const upstream = createServer({ maxHeaderSize: 200_000 }, (_request, response) => void response.end('ok'));

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${(upstream.address() as AddressInfo).port}` } } },
        edges: { https: { a: { hostports: ['a.test:443'], routes } } },
      },
      {
        onEvent: ({ object }, explain) =>
          void told.push(`${object.http.response.status_code} ${explain().decidedBy.code}`),
      },
    );
    listening = await edge.listen();
  });
  afterAll(async () => {
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
  });

  async function toldOf(bytes: Buffer): Promise<string> {
    told = [];
    const socket = connect(listening.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await expect.poll(() => told.length).toBeGreaterThan(0);
    socket.destroy();
    return told[0]!;
  }

  function http1({ method, target, authority = 'a.test', more = [] }: Head): Buffer {
    const fields = [['Host', authority] as const, ...more].map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`${method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`, 'latin1');
  }

  it.each(HEADS)('%s', async (_name, head, expected) => {
    const { method, target } = head;
    expect(await toldOf(http1(head))).toBe(expected);
    expect(await toldOf(Buffer.concat([PREFACE, settings(), request(1, target, { ...head, method })]))).toBe(
      expected,
    );
  });

  it('a second Host is refused, even with the same value', async () => {
    const more = [['host', 'a.test'] as const, ['host', 'a.test'] as const];
    expect(await toldOf(http1({ ...get(more.slice(1)) }))).toBe('400 request.malformed');
    const http2 = Buffer.concat([PREFACE, settings(), request(1, '/', { more })]);
    expect(await toldOf(http2)).toBe('400 request.malformed');
  });
});

describe('trailers', () => {
  const CHUNKS = '5\r\nhello\r\n0\r\n';
  const TRAILERS = `X-Sum: 1\r\nSet-Cookie: a=b\r\nContent-Type: text/html\r\nContent_Type: text/html\r\nCache-Control: public\r\nLocation: /\r\nWWW-Authenticate: Basic\r\nVary: x\r\nX-Secret: s3cret\r\nGrpc-Status: 0\r\n\r\n`;
  let listening: Listening;
  let overHttp2 = '';
  const http1 = createTcp((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}${TRAILERS}`);
      });
  });

  beforeAll(async () => {
    http1.listen(0, '127.0.0.1');
    await once(http1, 'listening');
    const edits = { response_headers: { remove: ['x-secret'] } };
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...edits }];
    const address = `127.0.0.1:${(http1.address() as AddressInfo).port}`;
    const edge = createEdge({
      backends: { app: { static: { address } } },
      edges: { https: { a: { hostports: ['a.test:443'], routes } } },
    });
    listening = await edge.listen();
  });
  afterAll(async () => {
    await listening.close(0);
    http1.close();
  });

  it('of a response over HTTP/1.1 have no fields that are only allowed in heads', async () => {
    const socket: Socket = connect(listening.port, '127.0.0.1');
    let got = '';
    socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n');
    await once(socket, 'close');
    const trailers = got.slice(got.indexOf('\r\n0\r\n') + 5).toLowerCase();
    expect(trailers).not.toMatch(
      /x-secret|s3cret|set-cookie|content.type|cache-control|location|www-authenticate|vary/,
    );
    expect(trailers === '' || trailers === '\r\n' || trailers.includes('grpc-status: 0')).toBe(true);
  });

  it('nor over HTTP/2', async () => {
    const socket = connect(listening.port, '127.0.0.1');
    const done = new Promise<void>((resolve) => {
      const read = frameReader(({ type, stream, flags, payload }) => {
        if (stream !== 1) return;
        if (type === FRAME.headers) overHttp2 += payload.toString('latin1');
        if ((flags & 1) !== 0) resolve();
      });
      socket.on('data', read);
    });
    socket.write(Buffer.concat([PREFACE, settings(), request(1, '/', { more: [['te', 'trailers']] })]));
    await done;
    socket.destroy();
    expect(overHttp2).not.toContain('a=b');
    // Huffman coding is not used for the values of responses.
    expect(overHttp2).not.toContain('s3cret');
  });
});
