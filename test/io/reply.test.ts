import { describe, expect, test } from 'vitest';
import { edgeFor, upstream } from '../http1/per_test.ts';
import { brotliDecompressSync, createGunzip, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { once } from 'node:events';
import type { Reply } from '../../src/engine/questions.ts';
import { type Ingress } from '../http1/ingress.ts';
import { answering, dial, hasHead, parseResponse, statusOf } from '../http1/sockets.ts';
import { forwarding, replying, text } from '../http1/test_exchange_port.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** One request on its own connection, until the reply is complete. */
async function reply(
  edge: Ingress,
  request = GET,
): Promise<ReturnType<typeof parseResponse> & { got: string }> {
  const client = await dial(edge.port);
  client.send(request);
  const got = await client.until((seen) => hasHead(seen) && parseResponse(seen).whole);
  client.socket.destroy();
  await edge.arrived(edge.traces.length);
  return { ...parseResponse(got), got };
}

describe('replies without content', () => {
  test('HEAD has the length for GET, and the connection persists', async () => {
    const up = await upstream(
      answering((read) =>
        read.line.startsWith('HEAD')
          ? 'HTTP/1.1 200 OK\r\ncontent-length: 77\r\n\r\n'
          : 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      ),
    );
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
    const head = await client.until(hasHead);
    expect(head).toMatch(/content-length: 77\r\n/);
    client.send(GET);
    expect((await client.until((got) => got.endsWith('ok'))).slice(head.length)).toMatch(/^HTTP\/1\.1 200 /);
    expect(edge.traces.map((trace) => trace.sent)).toMatchObject([
      { responseBytes: 0, rawResponseBytes: 0, cut: 'none' },
      { responseBytes: 2, rawResponseBytes: 2, cut: 'none' },
    ]);
  });

  test('HEAD for a response of unknown length, or a compressed one, has no length', async () => {
    const chunked = await upstream(answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
    const known = await upstream(answering('HTTP/1.1 200 OK\r\ncontent-length: 77\r\n\r\n'));
    for (const edge of [
      await edgeFor(forwarding(chunked.port)),
      await edgeFor(forwarding(known.port, { compress: 'gzip' })),
    ]) {
      const client = await dial(edge.port);
      client.send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(await client.until(hasHead)).not.toMatch(/content-length|transfer-encoding/i);
      await edge.arrived(1);
      expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: 0, cut: 'none' });
    }
  });

  test.each([
    [204, 'HTTP/1.1 204 No Content\r\n\r\n', null],
    [204, 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', null],
    [304, 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\netag: "a"\r\n\r\n', '5'],
    [304, 'HTTP/1.1 304 Not Modified\r\n\r\n', null],
    [205, 'HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n', '0'],
    [205, 'HTTP/1.1 205 Reset Content\r\ntransfer-encoding: chunked\r\n\r\n', '0'],
  ])('%i has no content (%j)', async (status, answer, length) => {
    const up = await upstream(answering(answer));
    for (const compress of [null, 'gzip'] as const) {
      const edge = await edgeFor(forwarding(up.port, { compress }));
      const client = await dial(edge.port);
      client.send(`${GET}${GET}`);
      // The second response directly follows the first head: there was no content between them.
      const got = await client.until((seen) => seen.split('\r\n\r\n').length === 3);
      const [first, second, rest] = got.split('\r\n\r\n');
      expect([statusOf(first!), statusOf(second!), rest]).toEqual([status, status, '']);
      expect(parseResponse(`${first}\r\n\r\n`).fields.get('content-length') ?? null).toBe(
        compress === null || status !== 304 ? length : null,
      );
      expect(first).not.toMatch(/transfer-encoding/i);
      await edge.arrived(2);
      expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: 0, rawResponseBytes: 0, cut: 'none' });
    }
  });

  test('the edge’s own text is not sent with HEAD or 204', async () => {
    for (const [request, status] of [
      ['HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', 200],
      [GET, 204],
    ] as const) {
      const edge = await edgeFor(replying(text(status, 'a text')));
      const client = await dial(edge.port);
      client.send(`${request}${request}`);
      const got = await client.until((seen) => seen.split('\r\n\r\n').length === 3);
      expect(got).not.toContain('a text');
      expect(/content-length: 6/.test(got)).toBe(status === 200);
    }
  });
});

describe('compressed replies', () => {
  const body = 'all work and no play makes jack a dull boy. '.repeat(5_000);

  test.each([
    ['gzip', gunzipSync],
    ['deflate', inflateSync], // the zlib format, RFC 9110 §8.4.1.2
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ] as const)('%s: the same content, exact counts, upstream and own text alike', async (encoding, undo) => {
    const up = await upstream(answering(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
    const streamed = await edgeFor(forwarding(up.port, { compress: encoding }));
    const own = await edgeFor(replying(text(200, body, encoding)));
    for (const edge of [streamed, own]) {
      const { fields, body: packed, got } = await reply(edge);
      expect(undo(packed).toString()).toBe(body);
      expect(fields.get('content-encoding')).toBe(encoding);
      expect(got.toLowerCase().split('content-encoding').length).toBe(2);
      expect(packed.length).toBeLessThan(body.length / 10);
      expect(edge.traces[0]!.sent).toEqual({
        requestBytes: 0,
        responseBytes: packed.length,
        rawResponseBytes: body.length,
        cut: 'none',
      });
    }
    expect((await reply(streamed)).fields.get('content-length')).toBeUndefined();
    expect((await reply(own)).fields.get('content-length')).toBe(`${own.traces[0]!.sent!.responseBytes}`);
  });

  test('a Content-Encoding set by a module is not set twice', async () => {
    const up = await upstream(answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const edge = await edgeFor(
      forwarding(up.port, { compress: 'gzip', headers: ['Content-Encoding', 'gzip'] }),
    );
    const { got, body: packed } = await reply(edge);
    expect(got.toLowerCase().split('content-encoding').length).toBe(2);
    expect(gunzipSync(packed).toString()).toBe('ok');
  });

  test.each(['gzip', 'deflate', 'br', 'zstd'] as const)(
    'Server-Sent Events come through %s one by one',
    async (encoding) => {
      const up = await upstream();
      const edge = await edgeFor(forwarding(up.port, { compress: encoding }));
      const client = await dial(edge.port);
      client.send(GET);
      const there = await up.next();
      await there.until(hasHead);
      there.send(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      // The head does not wait for the first event.
      let length = (await client.until(hasHead)).length;
      for (let count = 1; count <= 20; count++) {
        const event = `data: ${count}\n\n`;
        there.send(`${event.length.toString(16)}\r\n${event}\r\n`);
        const got = await client.until((seen) => seen.length > length && seen.endsWith('\r\n'), 1_000);
        length = got.length;
      }
      there.send('0\r\n\r\n');
      const got = await client.until((seen) => parseResponse(seen).whole);
      const undo = {
        gzip: gunzipSync,
        deflate: inflateSync,
        br: brotliDecompressSync,
        zstd: zstdDecompressSync,
      }[encoding];
      expect(undo(parseResponse(got).body).toString()).toBe(
        Array.from({ length: 20 }, (_none, index) => `data: ${index + 1}\n\n`).join(''),
      );
    },
  );

  test('the client can read each event when it arrives', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port, { compress: 'gzip' }));
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n',
    );
    const got = await client.until(
      (seen) => hasHead(seen) && seen.slice(seen.indexOf('\r\n\r\n') + 4).endsWith('\r\n'),
    );
    const gunzip = createGunzip();
    const content = got.slice(got.indexOf('\r\n\r\n') + 4);
    for (let at = 0; at < content.length;) {
      const line = content.indexOf('\r\n', at);
      const size = Number.parseInt(content.slice(at, line), 16);
      gunzip.write(Buffer.from(content.slice(line + 2, line + 2 + size), 'latin1'));
      at = line + 4 + size;
    }
    const [seen] = (await once(gunzip, 'data')) as [Buffer];
    expect(seen.toString()).toBe('data: 1\n\n');
  });

  test('an upstream that breaks off leaves a stream that no decoder accepts as complete', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port, { compress: 'gzip' }));
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send(`HTTP/1.1 200 OK\r\ncontent-length: 500000\r\n\r\n${body}`);
    await client.until(hasHead);
    there.socket.resetAndDestroy();
    await client.closed;
    await edge.arrived(1);
    expect(parseResponse(client.got()).whole).toBe(false);
    expect(edge.traces[0]!.sent?.cut).toBe('upstream');
    expect(edge.traces[0]!.completions).toBe(1);
  });

  test('a client that leaves a compressed stream frees the upstream', async () => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port, { compress: 'gzip' }));
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n');
    await client.until(hasHead);
    client.socket.destroy();
    await there.closed;
    await edge.arrived(1);
    expect(edge.traces[0]!.sent?.cut).toBe('client');
  });
});

describe('what the engine may set', () => {
  test('framing and hop-by-hop fields of a reply are not its own', async () => {
    const up = await upstream(answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const edge = await edgeFor(
      forwarding(up.port, {
        headers: [
          'Content-Length',
          '99',
          'Transfer-Encoding',
          'gzip',
          'Connection',
          'x',
          'Upgrade',
          'y',
          'X-Ok',
          '1',
        ],
      }),
    );
    const { got } = await reply(edge);
    expect(got).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Ok: 1\r\ncontent-length: 2\r\nDate: /);
  });

  test('close ends the connection without a response', async () => {
    const shut: Reply = { ...text(403, 'no'), close: true };
    const edge = await edgeFor(replying(shut));
    const client = await dial(edge.port);
    client.send(GET);
    await client.closed;
    expect(client.got()).toBe('');
    await edge.arrived(1);
    expect(edge.traces[0]!.sent).toEqual({
      requestBytes: 0,
      responseBytes: 0,
      rawResponseBytes: 0,
      cut: 'none',
    });
  });

  test('bytes are sent unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_none, index) => index));
    const edge = await edgeFor(replying({ ...text(200, ''), body: { bytes } }));
    expect((await reply(edge)).body.equals(bytes)).toBe(true);
  });

  test('a response that cannot be sent is a bug: 500, not an invalid head', async () => {
    const edge = await edgeFor(replying({ ...text(200, 'x'), headers: ['x', 'a\r\nset-cookie: b'] }));
    const { status, got } = await reply(edge);
    expect(status).toBe(500);
    expect(got).not.toContain('set-cookie');
    expect(edge.traces[0]!.failed).toBeInstanceOf(Error);
    expect(edge.traces[0]!.completions).toBe(1);
  });

  test('an upstream’s response that is not needed is cancelled', async () => {
    const up = await upstream();
    const edge = await edgeFor(function* walk(head, trace) {
      const steps = forwarding(up.port)(head, trace);
      let step = steps.next();
      while (step.done !== true && step.value.ask !== 'reply') step = steps.next(yield step.value);
      yield { ask: 'reply', reply: text(200, 'instead') };
    });
    const client = await dial(edge.port);
    client.send(GET);
    const there = await up.next();
    await there.until(hasHead);
    there.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n');
    await client.until((got) => got.endsWith('instead'));
    await there.closed;
    await edge.arrived(1);
    expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: 7, cut: 'none' });
  });
});
