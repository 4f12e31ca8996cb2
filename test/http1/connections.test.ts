import { describe, expect, test } from 'vitest';
import { edgeFor, upstream } from './per_test.ts';
import type { Answers } from '../../src/engine/questions.ts';

import { bothEnds } from '../io/both_ends.ts';
import { settled } from '../io/settled.ts';
import { answering, dial, hasHead, OK, splitRequests, statusOf } from './sockets.ts';
import { forwarding, replying, text } from './test_exchange_port.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function reusedOf(forwarded: Answers['forward']): boolean | null {
  return 'head' in forwarded ? forwarded.reused : null;
}

describe('connections to the upstream', () => {
  test('`reused` matches the socket', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    for (let count = 1; count <= 3; count++) {
      client.send(GET);
      await client.until((got) => got.split('\r\n\r\nok').length - 1 === count);
    }
    expect(up.wires.length).toBe(1);
    // The upstream closes the idle connection; the next request uses a new one.
    up.wires[0]!.socket.end();
    await up.wires[0]!.closed;
    client.send(GET);
    await client.until((got) => got.split('\r\n\r\nok').length - 1 === 4);
    expect(up.wires.length).toBe(2);
    expect(edge.traces.map((trace) => reusedOf(trace.forwards[0]!))).toEqual([false, true, true, false]);
  });

  test('a reused connection that fails is replaced for an idempotent request, and a reset for others', async () => {
    let requests = 0;
    const up = await upstream((one) => {
      requests++;
      if (requests % 2 === 0) one.socket.destroy();
      else one.send(OK);
    });
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.endsWith('ok'));
    client.send(GET); // second: cut; third: answered on a new connection
    await client.until((got) => got.split('\r\n\r\nok').length === 3);
    expect(requests).toBe(3);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await client.until((got) => got.includes(' 502 '));
    expect(requests).toBe(4);
    expect(edge.traces[1]!.forwards).toMatchObject([{ reused: false }]);
    expect(edge.traces[2]!.forwards).toMatchObject([{ failure: 'reset' }]);
  });

  test('clients that leave, 200 in every phase, leak no connection', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    const answer = [
      '',
      'HTTP/1.1 200',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n',
      `HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc`,
    ];
    for (let index = 0; index < 200; index++) {
      const client = await dial(edge.port);
      client.send(GET);
      const there = await up.next();
      await there.until(hasHead);
      there.send(answer[index % 4]!);
      if (index % 4 > 1) await client.until(hasHead);
      if (index % 2 === 0) client.socket.destroy();
      else client.socket.resetAndDestroy();
      await there.closed; // the upstream connection is closed at once
    }
    await edge.arrived(200);
    expect(edge.traces.map((trace) => [trace.completions, trace.sent?.cut])).toEqual(
      Array.from({ length: 200 }, () => [1, 'client']),
    );
    expect(edge.listener.connections).toBe(0);
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send(OK);
    await client.until((got) => got.endsWith('ok'));
  });
});

describe('connections from clients', () => {
  test('pipelined requests are served one after the other, in order', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(
      'POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    const there = await up.next();
    for (let count = 1; count <= 3; count++) {
      await there.until((got) => splitRequests(got).requests.length === count);
      expect(splitRequests(up.all()).requests).toHaveLength(count);
      there.send(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${count}`);
    }
    const got = await client.until((seen) => seen.endsWith('\r\n\r\n3'));
    expect(got.match(/\r\n\r\n\d/g)).toEqual(['\r\n\r\n1', '\r\n\r\n2', '\r\n\r\n3']);
  });

  test('however many requests are pipelined, each gets one response, and few are buffered', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port), { aheadBytes: 1_000 });
    const [client, listeners] = await bothEnds(() => dial(edge.port));
    const count = 170;
    const END = '\r\n\r\n';
    client.send(`GET /?${'x'.repeat(30_000)} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count));
    const there = await up.next();
    await there.until(hasHead);
    // The first request is in flight: pipelined ones are not read yet.
    expect(await settled(() => listeners.bytesRead, 1)).toBeLessThan((count * 30_000) / 10);
    let read = 0;
    const answer = (): void => {
      for (let end = there.got().indexOf(END, read); end >= 0; end = there.got().indexOf(END, read)) {
        read = end + END.length;
        there.send(OK);
      }
    };
    there.socket.on('data', answer);
    answer();
    await client.until((got) => got.split('\r\n\r\nok').length - 1 === count, 60_000);
    expect(edge.traces.length).toBe(count);
  });

  test('a malformed request after a valid one is refused after it', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(`${GET}GET / HTTP/1.1\r\nHost : a\r\n\r\n`);
    const there = await up.next();
    await there.until(hasHead);
    there.send(OK);
    await client.closed;
    expect(client.got().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(edge.traces.map((trace) => [trace.status, trace.completions])).toEqual([
      [200, 1],
      [400, 1],
    ]);
  });

  test('an HTTP/1.0 connection is closed, or kept alive on request', async () => {
    const up = await upstream(
      answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    );
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.got()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/);
    expect(client.got()).not.toMatch(/chunked/i);
  });

  test('100 Continue is sent when the upstream sends it, or nothing, and not before', async () => {
    const EXPECTING = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n';
    const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
    const up = await upstream();
    const asking = await edgeFor(forwarding(up.port), {}, { continueMs: 60_000 });
    const first = await dial(asking.port);
    first.send(EXPECTING);
    const there = await up.next();
    expect(await there.until(hasHead)).toMatch(/\r\nexpect: 100-continue\r\n/);
    expect(first.got()).toBe('');
    there.send(CONTINUE);
    expect(await first.until(hasHead)).toBe(CONTINUE);
    first.send('abc');
    await there.until((got) => got.endsWith('abc'));
    there.send(OK);
    expect(await first.until((got) => got.endsWith('ok'))).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 200 /);

    const silent = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(silent.port), {}, { continueMs: 100 });
    const client = await dial(edge.port);
    client.send(EXPECTING);
    expect(await client.until(hasHead)).toBe(CONTINUE);
    client.send('abc');
    await client.until((got) => got.endsWith('ok'));
    expect(splitRequests(silent.all()).requests.map((one) => one.body)).toEqual(['abc']);

    const refusing = await edgeFor(replying(text(403, 'no')));
    const other = await dial(refusing.port);
    other.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
    await other.closed;
    expect(other.got()).toMatch(/^HTTP\/1\.1 403 /);
    expect(other.got()).toMatch(/connection: close/i);
    expect(refusing.traces[0]!.sent?.requestBytes).toBe(0);
  });

  test('a refused upload is read to its end and the connection kept; one that continues is closed', async () => {
    const edge = await edgeFor(replying(text(403, 'no')), { lingerMs: 150 });
    const client = await dial(edge.port);
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n`);
    await client.until((got) => got.endsWith('no'));
    client.send('x'.repeat(300_000));
    client.send(GET);
    await client.until((got) => got.split('\r\n\r\nno').length === 3);

    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n`);
    const sent = Date.now();
    await client.closed;
    expect(Date.now() - sent).toBeLessThan(9_000);
    expect(edge.traces.map((trace) => trace.completions)).toEqual([1, 1, 1]);
  });

  test('an engine failure fails closed, with 500 and without a leak', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(function* walk(head, trace) {
      yield* forwarding(up.port)(head, trace);
      throw new Error('planted');
    });
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.endsWith('ok'));
    await edge.arrived(1);
    expect(edge.traces[0]!.failed).toMatchObject({ message: 'planted' });

    // eslint-disable-next-line require-yield
    const dead = await edgeFor(function* walk() {
      throw new Error('planted');
    });
    const other = await dial(dead.port);
    other.send(GET);
    expect(statusOf(await other.until(hasHead))).toBe(500);
    expect(dead.traces[0]!.completions).toBe(1);
  });
});

describe('draining', () => {
  test('lets exchanges finish, closes idle connections at once and late ones at the deadline', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    const idle = await dial(edge.port);
    idle.send('GET / HTTP/1.1\r\nHost : a\r\n\r\n');
    const quiet = await dial(edge.port);
    const busy = await dial(edge.port);
    busy.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    const late = await dial(edge.port);
    late.send(GET);
    const never = await up.next();
    await never.until(hasHead);

    const closing = edge.close(400);
    await quiet.closed;
    await expect(dial(edge.port)).rejects.toThrow(/ECONNREFUSED/);
    there.send(OK);
    await busy.closed;
    expect(busy.got()).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*ok$/i);
    expect(await closing).toEqual({ cut: 1 });
    await late.closed;
    expect(edge.traces.map((trace) => trace.completions)).toEqual([1, 1, 1]);
  });

  test('under load every request that has begun gets its response', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port));
    const stop = new AbortController();
    let answers = 0;
    async function load(): Promise<void> {
      while (!stop.signal.aborted) {
        const client = await dial(edge.port).catch(() => null);
        if (client === null) return;
        for (let count = 1; count < 20 && !stop.signal.aborted; count++) {
          client.send(GET);
          const done = await client.until((got) => got.split('\r\n\r\nok').length > count).catch(() => null);
          if (done === null) break;
          answers++;
        }
        client.socket.destroy();
      }
    }
    const loads = Array.from({ length: 16 }, load);
    await edge.arrived(500);
    const { cut } = await edge.close(5_000);
    stop.abort();
    await Promise.all(loads);
    expect(cut).toBe(0);
    const begun = edge.traces.length;
    expect(edge.traces.every((trace) => trace.completions === 1)).toBe(true);
    // A client may disconnect between the reply and the count, but never the other way round.
    expect(edge.traces.filter((trace) => trace.sent?.cut === 'none').length).toBe(begun);
    expect(answers).toBe(begun);
  });
});

test('the port: the next free one, or a failure with strictPort', async () => {
  const first = await edgeFor(replying(text(200, 'a')));
  const { createHttp1Listener } = await import('../../src/server/http1_listener.ts');
  const { testExchangePort } = await import('./test_exchange_port.ts');
  const { createUpstreamClient } = await import('../../src/http1/upstream_client.ts');
  const second = createHttp1Listener(testExchangePort(replying(text(200, 'b'))).exchanges, {
    upstream: createUpstreamClient(),
  });
  const refused = await second.listen({ port: first.port, strictPort: true });
  expect(refused).toMatchObject({
    problem: expect.stringContaining('another program listens there') as string,
  });
  const bound = await second.listen({ port: first.port });
  expect(bound).toMatchObject({ host: '127.0.0.1' });
  expect('port' in bound && bound.port > first.port).toBe(true);
  await second.close(0);
});
