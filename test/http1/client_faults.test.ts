import { runs } from '../random.ts';
import { describe, expect, test } from 'vitest';
import { edgeFor, upstream } from './per_test.ts';

import { answering, dial, hasHead, OK, statusOf } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

/** Of 40 connections each. */
const ROUNDS = runs(50);

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('slow and broken clients', () => {
  test('an incomplete head gets 408 in time', async () => {
    const edge = await edgeFor(forwarding(1), { headMs: 200 });
    const client = await dial(edge.port);
    client.send('GET / HTTP/1.1\r\nHost: a\r\nX-');
    const before = Date.now();
    await client.closed;
    expect(Date.now() - before).toBeLessThan(9_000);
    expect(client.got()).toMatch(/^HTTP\/1\.1 408 /);
    expect(edge.traces).toMatchObject([{ completions: 1, status: 408, refused: { code: 'head_timeout' } }]);
  });

  test('a connection that never sends anything is closed in time and has no event', async () => {
    const edge = await edgeFor(forwarding(1), { headMs: 200 });
    const client = await dial(edge.port);
    await client.closed;
    expect(client.got()).toBe('');
    expect(edge.traces).toEqual([]);
  });

  test('an idle connection is closed after the keep-alive time', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port), { keepAliveMs: 100 });
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.endsWith('ok'));
    const before = Date.now();
    await client.closed;
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  test.each([
    ['streamed', undefined],
    ['held', 1_000],
  ] as const)('a body that stops gets 408 in time and frees the upstream (%s)', async (_name, holdBytes) => {
    const up = await upstream();
    const script = forwarding(up.port, holdBytes === undefined ? {} : { holdBytes });
    const edge = await edgeFor(script, { bodyIdleMs: 200 });
    const client = await dial(edge.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    await client.closed;
    expect(client.got()).toMatch(/^HTTP\/1\.1 408 /);
    expect(edge.traces[0]!.sent).toMatchObject({ requestBytes: 3 });
    expect(edge.traces[0]!.completions).toBe(1);
    for (const there of up.wires) await there.closed;
    expect(up.wires.length).toBe(holdBytes === undefined ? 1 : 0);
  });

  test('a whole request has a time limit, however steadily it drips', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port), { bodyIdleMs: 10_000, headMs: 200, requestMs: 400 });
    const client = await dial(edge.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    const drip = setInterval(() => client.send('x'), 20);
    await client.closed;
    clearInterval(drip);
    expect(client.got()).toMatch(/^HTTP\/1\.1 408 /);
    expect(edge.traces).toMatchObject([{ completions: 1, forwards: [{ failure: 'body_timeout' }] }]);
  });

  test('a client that is slow with its body is not counted against the upstream', async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port), {}, { headMs: 500 });
    const client = await dial(edge.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na');
    for (const letter of 'bc') {
      // Together longer than the limit of the upstream.
      await new Promise((resolve) => void setTimeout(resolve, 300));
      client.send(letter);
    }
    expect(statusOf(await client.until(hasHead))).toBe(200);
    expect(edge.traces[0]!.forwards).toMatchObject([{ head: { status: 200 } }]);
  });

  test('half a body and a close: the upstream request is cancelled, and the event shows who left', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    for (const leave of ['end', 'reset'] as const) {
      const client = await dial(edge.port);
      client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
      const there = await up.next();
      await there.until((got) => got.endsWith('abc'));
      if (leave === 'end') client.socket.end();
      else client.socket.resetAndDestroy();
      await there.closed;
    }
    await edge.arrived(2);
    for (const trace of edge.traces) {
      expect(trace).toMatchObject({
        completions: 1,
        forwards: [{ failure: 'cancelled' }],
        sent: { cut: 'client', requestBytes: 3 },
      });
    }
  });

  test('a client that does not read its response is disconnected in time, and the upstream freed', async () => {
    const up = await upstream((one) => {
      if (!hasHead(one.got())) return;
      one.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const more = (): void => {
        while (!one.socket.destroyed && one.socket.write(chunk)) {
          /* as much as possible */
        }
      };
      one.socket.on('drain', more);
      more();
    });
    const edge = await edgeFor(forwarding(up.port), { writeIdleMs: 300 });
    const client = await dial(edge.port);
    client.socket.pause();
    client.send(GET);
    await up.next().then((there) => there.closed);
    await edge.arrived(1);
    expect(edge.traces[0]!.sent?.cut).toBe('client');
    expect(edge.traces[0]!.completions).toBe(1);
    client.socket.destroy();
  });

  test(`after ${40 * ROUNDS} broken connections the listener still serves`, async () => {
    const up = await upstream(answering(OK));
    const edge = await edgeFor(forwarding(up.port));
    const openings = [
      'G',
      GET.slice(0, 20),
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab',
      '\0\0\0',
      GET,
      'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    ];
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(
        Array.from({ length: 40 }, async (_none, index) => {
          const client = await dial(edge.port);
          client.send(openings[(index + round) % openings.length]!);
          if (index % 3 === 0) client.socket.resetAndDestroy();
          else client.socket.destroySoon();
          await client.closed;
        }),
      );
    }
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.endsWith('ok'));
    client.socket.destroy();
    await edge.close(1_000);
    expect(edge.traces.every((trace) => trace.completions === 1)).toBe(true);
    expect(edge.listener.connections).toBe(0);
  });
});
