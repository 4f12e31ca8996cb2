import { once } from 'node:events';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttp2, type Http2Server, type Http2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createUpstreamClient } from '../../src/http1/upstream_client.ts';
import type { KeepingClient } from '../../src/io/ports.ts';
import type { UpstreamRequest } from '../../src/engine/questions.ts';
import { drink, forwarded } from '../io/forwarded.ts';

/** An upstream whose response to `/slow` ends on request. */
interface Watched {
  readonly server: Server | Http2Server;
  readonly open: Set<unknown>;
  finish: () => void;
}

function watched(http2: boolean): Watched {
  const open = new Set<unknown>();
  const made: Watched = { server: http2 ? http2Server() : httpServer(), open, finish: () => undefined };
  const watch = (one: Socket | Http2Session): void => {
    open.add(one);
    (one as Socket).once('close', () => open.delete(one));
  };
  made.server.on(http2 ? 'session' : 'connection', watch);
  return made;

  function answer(
    url: string,
    response: { write: (text: string) => unknown; end: (text: string) => unknown },
  ): void {
    if (url !== '/slow') {
      response.end('whole');
      return;
    }
    response.write('begun ');
    made.finish = () => void response.end('ended');
  }
  function httpServer(): Server {
    return createHttp((request, response) => answer(request.url!, response));
  }
  function http2Server(): Http2Server {
    return createHttp2((request, response) => answer(request.url, response));
  }
}

describe.each([
  ['HTTP/1.1', false],
  ['HTTP/2', true],
])('removed upstreams, %s', (_name, http2) => {
  async function set(): Promise<{
    upstream: Watched;
    client: KeepingClient;
    endpoint: UpstreamRequest['endpoint'];
  }> {
    const upstream = watched(http2);
    upstream.server.listen(0, '127.0.0.1');
    await once(upstream.server, 'listening');
    const client = createUpstreamClient();
    onTestFinished(() => void upstream.server.close());
    onTestFinished(() => client.close());
    const { port } = upstream.server.address() as AddressInfo;
    const endpoint = { kind: 'static', id: 'app', host: '127.0.0.1', port, tls: false } as const;
    return { upstream, client, endpoint: http2 ? { ...endpoint, http2 } : endpoint };
  }

  async function begin(client: KeepingClient, endpoint: UpstreamRequest['endpoint'], target: string) {
    const headers = ['host', 'a'];
    const request = { endpoint, method: 'GET', target, headers, body: null, upgrade: null };
    const came = await forwarded(client, request).came;
    if (!('body' in came)) throw new Error(JSON.stringify(came));
    return { reused: came.reused, content: drink(came.body) };
  }

  async function ask(
    client: KeepingClient,
    endpoint: UpstreamRequest['endpoint'],
    target: string,
  ): Promise<boolean> {
    const { reused, content } = await begin(client, endpoint, target);
    expect(String((await content).bytes)).toBe('whole');
    return reused;
  }

  it('idle connections close at once', async () => {
    const { upstream, client, endpoint } = await set();
    expect(await ask(client, endpoint, '/')).toBe(false);
    client.keepOnly([endpoint]);
    expect(await ask(client, endpoint, '/')).toBe(true);
    expect(upstream.open.size).toBe(1);
    client.keepOnly([]);
    await expect.poll(() => upstream.open.size).toBe(0);
  });

  it('connections in use close after their complete exchange', async () => {
    const { upstream, client, endpoint } = await set();
    const { content } = await begin(client, endpoint, '/slow');
    client.keepOnly([]);
    upstream.finish();
    const { bytes, last } = await content;
    expect([String(bytes), last]).toEqual(['begun ended', 'end']);
    await expect.poll(() => upstream.open.size).toBe(0);
  });

  it('an exchange of an older configuration is served, and keeps nothing open', async () => {
    const { upstream, client, endpoint } = await set();
    client.keepOnly([]);
    await ask(client, endpoint, '/');
    await expect.poll(() => upstream.open.size).toBe(0);
  });

  it('connections to a re-added upstream are kept again', async () => {
    const { upstream, client, endpoint } = await set();
    await ask(client, endpoint, '/');
    client.keepOnly([]);
    await expect.poll(() => upstream.open.size).toBe(0);
    const again = { ...endpoint };
    client.keepOnly([again]);
    await ask(client, again, '/');
    expect(await ask(client, again, '/')).toBe(true);
  });
});
