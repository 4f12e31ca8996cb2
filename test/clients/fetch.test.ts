import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fetcher, createFetcher } from '../../src/clients/fetch.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';

let server: Server;
let fetcher: Fetcher;
let base: string;
const never = new AbortController().signal;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/hang') return;
    if (path === '/large') response.end('a'.repeat(10_000));
    else if (path.startsWith('/again/')) {
      const left = Number(path.slice('/again/'.length));
      response.writeHead(302, { location: left === 0 ? '/ok' : `/again/${left - 1}` }).end('moved');
    } else if (path === '/plain')
      response.writeHead(302, { location: 'http://does-not-exist.invalid/keys' }).end();
    else if (path === '/other') response.writeHead(303, { location: '/echo' }).end();
    else void echo(request).then((text) => response.setHeader('x-twice', ['a', 'b']).end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fetcher = createFetcher();
});
afterAll(async () => {
  await fetcher.close();
  server.closeAllConnections();
  server.close();
});

async function echo(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return `${request.method} ${request.url} ${String(request.headers['x-a'])} ${Buffer.concat(chunks).toString()}`;
}

const ask = (path: string, more: Partial<FetchRequest> = {}, gone = never) =>
  fetcher.fetch(
    {
      method: 'GET',
      url: path.startsWith('/') ? base + path : path,
      headers: [],
      body: null,
      timeoutMs: 5_000,
      limitBytes: 1_000,
      maxRedirects: 0,
      allowPrivate: true,
      ...more,
    },
    gone,
  );

const textOf = (answer: Awaited<ReturnType<typeof ask>>) =>
  'body' in answer ? Buffer.from(answer.body).toString() : answer.failure;

describe('requests of the edge itself', () => {
  it('sends method, fields and body, and reads the response', async () => {
    const answer = await ask('/x?y=z', { method: 'POST', headers: ['X-A', '1'], body: Buffer.from('hello') });
    expect(textOf(answer)).toBe('POST /x?y=z 1 hello');
    expect(answer).toMatchObject({ status: 200, resolvedIp: '127.0.0.1' });
    expect('headers' in answer && answer.headers.join('|')).toContain('x-twice|a|x-twice|b');
  });

  it('reports the resolved address', async () => {
    const { port } = new URL(base);
    expect(await ask(`http://localhost:${port}/`)).toMatchObject({
      resolvedIp: expect.stringMatching(/^(?:127|::1)/),
    });
  });

  it('follows redirects up to the limit', async () => {
    expect(await ask('/again/2')).toMatchObject({ status: 302 });
    expect(textOf(await ask('/again/2', { maxRedirects: 3 }))).toMatch(/^GET \/ok/);
    expect(await ask('/again/2', { maxRedirects: 2 })).toMatchObject({ failure: 'redirects' });
  });

  it('follows no redirect from a secure place to plain http elsewhere, if it must not', async () => {
    const secure = { maxRedirects: 2, staysSecure: true };
    expect(await ask('/plain', secure)).toMatchObject({ failure: 'redirects' });
    expect(textOf(await ask('/plain', { maxRedirects: 2 }))).toBe('connect');
    expect(await ask('/again/1', secure)).toMatchObject({ status: 200 });
  });

  it('bounds the requests of a kind in flight', async () => {
    const atMost = { of: 'certificates', count: 2 };
    const gone = new AbortController();
    const held = ['/hang', '/hang'].map((path) => ask(path, { atMost }, gone.signal));
    expect(await ask('/ok', { atMost })).toMatchObject({
      failure: 'connect',
      detail: expect.stringContaining('in flight'),
    });
    expect(await ask('/ok')).toMatchObject({ status: 200 });
    gone.abort();
    await Promise.all(held);
    expect(await ask('/ok', { atMost })).toMatchObject({ status: 200 });
  });

  it('turns a redirected POST into a GET', async () => {
    const answer = await ask('/other', { method: 'POST', body: Buffer.from('secret'), maxRedirects: 1 });
    expect(textOf(answer)).toMatch(/^GET \/echo undefined $/);
  });

  it.each([
    ['more than it may hold', () => ask('/large'), 'too_large'],
    ['silence', () => ask('/hang', { timeoutMs: 50 }), 'timeout'],
    ['no listener', () => ask('http://127.0.0.1:1/'), 'connect'],
    ['no URL', () => ask('nonsense:'), 'invalid'],
    ['a client that has left', () => ask('/hang', {}, AbortSignal.abort()), 'connect'],
  ])('reports %s', async (_name, request, failure) => {
    expect(await request()).toMatchObject({ failure });
  });
});
