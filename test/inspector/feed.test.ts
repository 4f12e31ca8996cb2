import { type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { FilterAnswer, Hello, SearchAnswer } from '../../src/inspector/wire.ts';
import { type FeedReader, application, edgeTo, inspected } from './inspected.ts';

const done = (count: number) => (reader: FeedReader) =>
  new Set(reader.rows.flatMap(({ state, seq }) => (state === 'done' ? [seq] : []))).size >= count;

test('a feed begins with what is kept and goes on after a cursor', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { send, feed } = await inspected(edgeTo(address));
  await send('/before');
  const first = await (await feed()).until(done(1));
  await send('/while');
  await first.until(done(2));
  const cursor = first.ids.at(-1)!;
  first.close();
  await first.ended();
  await send('/between');
  const second = await feed(`?after=${cursor}`);
  await second.until(done(1));
  expect(second.rows).toMatchObject([{ target: '/between' }]);
});

test('a filter applies in the server, and an unknown one is refused', async () => {
  const { address } = await application(({ url }) => ({ status: url === '/bad' ? 502 : 200, body: 'ok' }));
  const { send, feed, ok } = await inspected(edgeTo(address));
  const { id } = await ok<FilterAnswer>('POST', '/api/filter', {
    expression: 'ev.http.response.status_code >= 500',
  });
  const wrong = await ok<FilterAnswer>('POST', '/api/filter', { expression: 'ev.http.response.status_code' });
  expect(wrong.id).toBe(null);
  expect(wrong.diagnostics).toHaveLength(1);
  const reader = await feed(`?filter=${id}`);
  for (const path of ['/good', '/bad', '/good']) await send(path);
  await reader.until(done(1));
  expect(reader.rows).toMatchObject([{ target: '/bad', status: 502 }]);
  await expect(feed('?filter=0123456789abcdef')).rejects.toThrow('404');
  await expect(feed('?after=x')).rejects.toThrow('400');
});

test('a request that takes long is shown while it is open', async () => {
  let answer: (() => void) | null = null;
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        answer = () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
  });
  const address = await listening(server);
  const { send, feed, ok } = await inspected(edgeTo(address));
  const reader = await feed();
  const sent = send('/slow');
  await reader.until(({ rows }) => rows.length > 0);
  expect(reader.rows[0]).toMatchObject({
    state: 'open',
    status: null,
    tookMs: null,
    verdict: null,
    eventId: null,
  });
  const open = await ok<object>('GET', `/api/exchanges/${reader.rows[0]!.seq}`);
  expect(open).toMatchObject({ event: null, explanation: null, exchange: { response: null } });
  answer!();
  expect((await sent).status).toBe(200);
  await reader.until(done(1));
  expect(reader.rows.at(-1)).toMatchObject({ seq: reader.rows[0]!.seq, state: 'done', status: 200 });
});

test('a page that does not read is not buffered for: it gets a count, and search has the rows', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { feed, ok, inspector, listening: edge } = await inspected(edgeTo(address));
  const reader = await feed();
  reader.pause();
  const target = `/${'x'.repeat(1_900)}`;
  const sends = 4_000;
  await keptAlive(edge.port, target, sends);
  reader.resume();
  await reader.until(({ events }) => events.some(({ type }) => type === 'missed') || done(sends)(reader));
  const { context } = inspector;
  const missed = reader.events.reduce((sum, event) => sum + (event.type === 'missed' ? event.count : 0), 0);
  expect(missed).toBeGreaterThan(0);
  expect(missed + reader.rows.length).toBeLessThanOrEqual(sends + 500);
  const found = await ok<SearchAnswer>('POST', '/api/search', { limit: 2_000 });
  expect(found.rows.length).toBe(Math.min(2_000, context.store.list().length));
});

test('without a page only few of many requests are observed, and the rest is counted', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const clock = Date.UTC(2030, 0, 1);
  const { ok, listening: edge } = await inspected(edgeTo(address), {}, { clock: () => clock });
  await keptAlive(edge.port, '/many', 1_000);
  const { kept } = await ok<Hello>('GET', '/api/hello');
  expect(kept).toMatchObject({ rows: 100, unwatched: 900 });
  const { routes } = await ok<{ routes: { hits: number }[] }>('GET', '/api/overview');
  expect(routes[0]!.hits).toBe(1_000);
});

test('the feed says what each second had, also one that the end of an exchange shows to be over', async () => {
  const began = Date.UTC(2030, 0, 1);
  let clock = began;
  const { address } = await application(({ url }) => {
    if (url === '/bad') clock += 1_000;
    return { status: url === '/bad' ? 500 : 200, body: 'ok' };
  });
  const { send, feed } = await inspected(edgeTo(address), {}, { clock: () => clock });
  const reader = await feed();
  for (const path of ['/a', '/b', '/bad']) await send(path);
  clock += 1_000;
  const stats = () => reader.events.flatMap((event) => (event.type === 'stats' ? [event.stats] : []));
  await reader.until(() => stats().some(({ classes }) => classes[5] > 0));
  expect(stats()).toMatchObject([
    { atMs: began, requests: 2, classes: [0, 0, 2, 0, 0, 0] },
    { atMs: began + 1_000, requests: 1, classes: [0, 0, 0, 0, 0, 1] },
  ]);
  expect(stats()[0]!.p50Ms).toBeGreaterThan(0);
});

test('the end of the inspector ends every feed at once', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { feed, inspector } = await inspected(edgeTo(address));
  const readers = [await feed(), await feed()];
  const began = performance.now();
  await inspector.close();
  for (const reader of readers) {
    await reader.ended();
    expect(reader.events.at(-1)).toEqual({ type: 'end' });
  }
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('at most 16 pages are open', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { feed } = await inspected(edgeTo(address));
  for (let at = 0; at < 16; at++) await feed();
  await expect(feed()).rejects.toThrow('503');
});

/** Sends requests over one connection, pipelined, and resolves when all are answered. */
async function keptAlive(port: number, target: string, count: number): Promise<void> {
  const socket: Socket = connect(port, '127.0.0.1');
  let text = '';
  let answered = 0;
  let sent = 0;
  const more = (): void => {
    const upTo = Math.min(count, answered + 20);
    while (sent < upTo) {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
      sent++;
    }
  };
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', more).once('error', reject);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const parts = text.split('HTTP/1.1 200');
      answered += parts.length - 1;
      text = parts.at(-1)!.slice(-11);
      if (answered >= count) resolve();
      else more();
    });
  });
  socket.destroy();
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
