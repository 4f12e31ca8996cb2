import { once } from 'node:events';
import { credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import type { Listening } from '../../src/listening.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { type EchoClient, type EchoServer, ask, echoClient, echoServer } from './grpc_peers.ts';

describe.each(['plain', 'TLS'])('gRPC through an edge, %s', (kind) => {
  let upstream: EchoServer;
  let listening: Listening;
  let client: EchoClient;
  const events: HttpRequestCompleteEvent['object'][] = [];
  const waiting: (() => void)[] = [];
  /** The event of the next complete exchange. */
  const nextEvent = (): Promise<HttpRequestCompleteEvent['object']> =>
    new Promise((resolve) => waiting.push(() => resolve(events.at(-1)!)));

  beforeAll(async () => {
    upstream = await echoServer();
    const authority = testAuthority('grpc');
    const pair = authority.issue('grpc.test', SERVER('grpc.test'));
    const edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${upstream.port}`, protocol: 'http2' } } },
        tls_certificates: { grpc: { certificate_pem: pair.cert, private_key_pem: pair.key } },
        edges: {
          https: {
            grpc: {
              hostports: ['grpc.test:443'],
              routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
            },
          },
        },
      },
      {
        onEvent: ({ object }) => {
          events.push(object);
          waiting.shift()?.();
        },
      },
    );
    listening = await edge.listen(kind === 'TLS' ? { tls: {} } : {});
    client =
      kind === 'TLS'
        ? echoClient(listening.tlsPort!, credentials.createSsl(Buffer.from(authority.cert)), 'grpc.test')
        : echoClient(listening.port, credentials.createInsecure(), 'grpc.test');
  });

  afterAll(async () => {
    client.close();
    upstream.server.forceShutdown();
    await listening.close(0);
  });

  it('a unary call with metadata in both directions, before and after the message', async () => {
    const completed = nextEvent();
    const answered = await ask(client, Buffer.from('hello'), { 'x-head': 'before' });
    expect(answered.error).toBeNull();
    expect(String(answered.value)).toBe('hello');
    expect(answered.head?.get('x-head')).toEqual(['before']);
    expect(answered.status.metadata.get('x-trailer')).toEqual(['behind']);
    expect(answered.status.metadata.get('x-raw-bin')).toEqual([Buffer.from([0, 255, 7])]);
    const event = await completed;
    expect(event.http.request.method).toBe('post');
    expect(event.http.response.status_code).toBe(200);
  });

  it('an error has its status, message and trailers', async () => {
    const { error } = await ask(client, Buffer.from('x'), { 'x-ask': 'error' });
    expect(error?.code).toBe(status.FAILED_PRECONDITION);
    expect(error?.details).toBe('nö');
    expect(error?.metadata.get('x-trailer')).toEqual(['behind']);
  });

  it('an empty message is a message', async () => {
    const { error, value } = await ask(client, Buffer.alloc(0));
    expect(error).toBeNull();
    expect(value?.length).toBe(0);
  });

  it('a deadline also ends the call at the upstream, with one event', async () => {
    const before = upstream.cancelled.length;
    const completed = nextEvent();
    const { error } = await ask(
      client,
      Buffer.from('x'),
      { 'x-ask': 'hang' },
      { deadline: Date.now() + 300 },
    );
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    await completed;
    await expect.poll(() => upstream.cancelled.length).toBe(before + 1);
  });

  it('a client’s stream of messages gets its response after its end', async () => {
    const answer = new Promise<string>((resolve, reject) => {
      const call = client.gather((error, value) => (error ? reject(error) : resolve(String(value))));
      for (let at = 0; at < 50; at++) call.write(Buffer.alloc(20_000, at));
      call.end();
    });
    expect(await answer).toBe('1000000');
  });

  it('a server’s stream keeps its order, at the pace of its reader', async () => {
    const call = client.spread(Buffer.from('400'));
    let next = 0;
    for await (const message of call as AsyncIterable<Buffer>) {
      expect(message.length).toBe(10_000);
      expect(message[0]).toBe(next++ % 256);
    }
    expect(next).toBe(400);
  });

  it('a server’s stream that its reader cancels ends at the upstream', async () => {
    const before = upstream.cancelled.length;
    const call = client.spread(Buffer.from('100000'));
    call.on('error', () => undefined);
    await once(call, 'data');
    call.cancel();
    await expect.poll(() => upstream.cancelled.length).toBe(before + 1);
  });

  it('both sides send at the same time', async () => {
    const call = client.chat();
    for (let turn = 0; turn < 20; turn++) {
      const said = Buffer.from(`turn ${turn}`);
      call.write(said);
      // The response arrives before the request has ended.
      const [heard] = (await once(call, 'data')) as [Buffer];
      expect(heard).toEqual(said);
    }
    const ended = once(call, 'status');
    call.end();
    call.resume();
    const [{ code }] = (await ended) as [{ code: number }];
    expect(code).toBe(status.OK);
  });

  it('a hundred concurrent calls make a hundred events', async () => {
    const before = events.length;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => ask(client, Buffer.from(`call ${at}`))),
    );
    expect(answers.map(({ value }) => String(value))).toEqual(answers.map((_, at) => `call ${at}`));
    await expect.poll(() => events.length).toBe(before + 100);
  });

  it('an unreachable upstream is UNAVAILABLE', async () => {
    const edge = createEdge({
      backends: { app: { static: { address: '127.0.0.1:1', protocol: 'http2' } } },
      edges: {
        https: {
          grpc: {
            hostports: ['grpc.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
          },
        },
      },
    });
    const alone = await edge.listen({});
    const caller = echoClient(alone.port, credentials.createInsecure(), 'grpc.test');
    const { error } = await ask(caller, Buffer.from('x'));
    expect(error?.code).toBe(status.UNAVAILABLE); // 502, by the table in "gRPC over HTTP/2"
    caller.close();
    await alone.close(0);
  });
});
