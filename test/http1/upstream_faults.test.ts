import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { edgeFor, upstream } from './per_test.ts';
import { type Ingress } from './ingress.ts';
import { answering, dial, hasHead, OK, recorder, statusOf, type Wire } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

async function statusFor(
  answer: ((one: Wire) => void) | null,
  port?: number,
): Promise<{ got: string; edge: Ingress }> {
  const up = await upstream(answer ?? undefined);
  const edge = await edgeFor(
    forwarding(port ?? up.port),
    {},
    { headMs: 1_000, bodyIdleMs: 1_000, connectMs: 1_000 },
  );
  const client = await dial(edge.port);
  client.send(GET);
  const got = await client.until(hasHead);
  await edge.arrived(1);
  expect(edge.traces[0]!.completions).toBe(1);
  client.socket.destroy();
  return { got, edge };
}

describe('upstreams', () => {
  test.each<[string, string, number, ((one: Wire) => void) | null]>([
    ['hangs before its head', 'timeout', 504, null],
    ['hangs in the middle of its head', 'timeout', 504, (one) => one.send('HTTP/1.1 200 OK\r\nx: ')],
    ['closes without a word', 'reset', 502, (one) => one.socket.end()],
    ['resets without a word', 'reset', 502, (one) => one.socket.resetAndDestroy()],
    ['closes in the middle of its head', 'reset', 502, (one) => one.socket.end('HTTP/1.1 200 OK\r\nx: 1')],
    ['answers what is not HTTP', 'invalid', 502, (one) => one.send('220 mail ready\r\n')],
    [
      'answers with both framings',
      'invalid',
      502,
      (one) =>
        one.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
    ],
    [
      'answers with two lengths',
      'invalid',
      502,
      (one) => one.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'),
    ],
    [
      'answers with a folded field',
      'invalid',
      502,
      (one) => one.send('HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'answers with a head above 1 MB',
      'invalid',
      502,
      (one) => one.send(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_100_000)}\r\n\r\n`),
    ],
    [
      'switches the protocol without a request for it',
      'invalid',
      502,
      (one) => one.send('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('one that %s is a %s: %i', async (_name, failure, status, answer) => {
    const { got, edge } = await statusFor(answer);
    expect(statusOf(got)).toBe(status);
    expect(edge.traces[0]!.forwards).toMatchObject([{ failure }]);
  });

  test('one that refuses the connection is a connect failure', async () => {
    const closed = await recorder();
    await closed.close();
    const { got, edge } = await statusFor(null, closed.port);
    expect(statusOf(got)).toBe(502);
    expect(edge.traces[0]!.forwards).toMatchObject([
      { failure: 'connect', detail: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });

  test('a name that does not resolve is a connect failure', async () => {
    const edge = await edgeFor(forwarding(80, { host: 'no-such-host.invalid' }));
    const client = await dial(edge.port);
    client.send(GET);
    expect(statusOf(await client.until(hasHead))).toBe(502);
    expect(edge.traces[0]!.forwards).toMatchObject([{ failure: 'connect' }]);
  });

  test('a connection attempt without response ends in time', async () => {
    // A TLS dial to a silent listener gets a connection but no handshake.
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const edge = await edgeFor(forwarding(port, { tls: true }), {}, { connectMs: 150 });
    const client = await dial(edge.port);
    client.send(GET);
    expect(statusOf(await client.until(hasHead))).toBe(502);
    expect(edge.traces[0]!.forwards).toEqual([{ failure: 'connect', detail: 'no connection within 150 ms' }]);
    silent.close();
  });

  test('a client that leaves during the connection attempt ends it', async () => {
    const silent = createServer();
    const dialled = new Promise<void>((resolve) => {
      silent.on('connection', (socket) => {
        socket.on('error', () => undefined);
        socket.resume().on('close', resolve);
      });
    });
    const accepted = new Promise<void>((resolve) => void silent.once('connection', () => resolve()));
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const edge = await edgeFor(forwarding(port, { tls: true }));
    const client = await dial(edge.port);
    client.send(GET);
    await accepted;
    client.socket.destroy();
    await dialled;
    await edge.arrived(1);
    expect(edge.traces[0]!.forwards).toEqual([{ failure: 'cancelled', detail: 'the client left' }]);
    expect(edge.traces[0]!.sent?.cut).toBe('client');
    silent.close();
  });

  test.each<[string, string, (one: Wire) => void]>([
    [
      'resets in a body of known length',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
      (one) => one.socket.resetAndDestroy(),
    ],
    [
      'closes in a body of known length',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
      (one) => one.socket.end(),
    ],
    [
      'closes in the middle of chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      (one) => one.socket.end(),
    ],
    [
      'breaks its chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      (one) => one.send('zz\r\n'),
    ],
    [
      'falls silent in its body',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      () => undefined,
    ],
  ])('one that %s: the client sees a cut, never a clean end', async (_name, half, fault) => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port), {}, { bodyIdleMs: 200 });
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send(half);
    await client.until((got) => got.includes('abc'));
    fault(there);
    await client.closed;
    expect(client.got()).not.toContain('0\r\n\r\n');
    await edge.arrived(1);
    expect(edge.traces[0]!.completions).toBe(1);
    expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: 3, rawResponseBytes: 3, cut: 'upstream' });
  });

  test('a body that ends with the connection is complete', async () => {
    const up = await upstream((one) => one.socket.end('HTTP/1.1 200 OK\r\n\r\nabc'));
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.endsWith('3\r\nabc\r\n0\r\n\r\n'));
    expect(edge.traces[0]!.sent).toEqual({
      requestBytes: 0,
      responseBytes: 3,
      rawResponseBytes: 3,
      cut: 'none',
    });
  });

  test('one that does not read an upload is a timeout, however fast the client sends', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port), {}, { headMs: 300 });
    const client = await dial(edge.port);
    const before = up.next().then((there) => there.socket.pause());
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 67108864\r\n\r\n');
    client.send(Buffer.alloc(33_554_432));
    await before;
    expect(statusOf(await client.until(hasHead, 10_000))).toBe(504);
    await edge.arrived(1);
    expect(edge.traces).toMatchObject([{ completions: 1, forwards: [{ failure: 'timeout' }] }]);
    client.socket.destroy();
  });

  test('a second response does not reach another request', async () => {
    const up = await upstream(answering(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`));
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    for (let count = 1; count <= 5; count++) {
      client.send(GET);
      await client.until((got) => got.split('\r\n\r\nok').length - 1 === count);
    }
    expect(client.got()).not.toContain('poison');
    expect(up.wires.length).toBe(5);
  });

  test('103 and 102 are passed on with their hints only; the final response follows', async () => {
    const up = await upstream(
      answering(
        `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nx-secret: 1\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}`,
      ),
    );
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(GET);
    const got = await client.until((text) => text.endsWith('ok'));
    expect(got.split('\r\n\r\n').map((head) => head.slice(0, 12))).toEqual([
      'HTTP/1.1 103',
      'HTTP/1.1 102',
      'HTTP/1.1 200',
      'ok',
    ]);
    expect(got).toContain('103 Early Hints\r\nlink: </a>\r\n\r\n');
    const old = await dial(edge.port);
    old.send('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
    await old.closed;
    expect(old.got()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('one that only sends interim responses is abandoned', async () => {
    const up = await upstream((one) => {
      if (hasHead(one.got())) one.send('HTTP/1.1 102 Processing\r\n\r\n'.repeat(101));
    });
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(GET);
    await client.until((got) => got.includes(' 502 '));
    expect(edge.traces[0]!.forwards).toMatchObject([{ failure: 'invalid' }]);
  });

  test('a response before the end of the upload is passed on, and the rest of the upload is read', async () => {
    const up = await upstream((one) => {
      if (hasHead(one.got()) && one.got().split('\r\n\r\n').length === 2)
        one.send('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig');
    });
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\nabc');
    await client.until((got) => got.endsWith('big'));
    client.send('x'.repeat(299_997));
    client.send(GET);
    await client.until((got) => got.split('\r\n\r\nbig').length === 3);
    expect(edge.traces.map((trace) => trace.sent?.cut)).toEqual(['none', 'none']);
  });
});
