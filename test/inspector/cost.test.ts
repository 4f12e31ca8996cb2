import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { projectHttpRequestComplete } from '../../src/events/project.ts';
import { exchangeRow } from '../../src/inspector/server/rows.ts';
import type { SearchAnswer } from '../../src/inspector/wire.ts';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { application, edgeTo, inspected } from './inspected.ts';

// They do what they do, and count.
vi.mock('../../src/events/project.ts', { spy: true });
vi.mock('../../src/inspector/server/rows.ts', { spy: true });

const REQUESTS = 20;

const counts = () => ({
  events: vi.mocked(projectHttpRequestComplete).mock.calls.length,
  rows: vi.mocked(exchangeRow).mock.calls.length,
  texts: vi.mocked(JSON.stringify).mock.calls.length,
});

const NOTHING = { events: 0, rows: 0, texts: 0 };

beforeEach(() => {
  vi.clearAllMocks();
  vi.spyOn(JSON, 'stringify');
});
afterEach(() => {
  vi.mocked(JSON.stringify).mockRestore();
});

async function edge() {
  const { address } = await application(() => ({ body: 'ok' }));
  return inspected(edgeTo(address));
}

test('without a page a request makes no event, no row and no text; a page makes rows once, when it asks, and no event', async () => {
  const { send, ok } = await edge();
  for (let at = 0; at < REQUESTS; at++) await send(`/items/${at}`);
  expect(counts()).toEqual(NOTHING);
  const found = await ok<SearchAnswer>('POST', '/api/search', {});
  const targets = found.rows.map((row) => 'target' in row && row.target);
  expect(targets.toReversed()).toEqual(Array.from({ length: REQUESTS }, (_, at) => `/items/${at}`));
  expect(found.rows.every(({ eventId, verdict }) => eventId !== null && verdict === 'pass')).toBe(true);
  expect(counts()).toMatchObject({ events: 0, rows: REQUESTS });
  const again = await ok<SearchAnswer>('POST', '/api/search', {});
  expect(again.rows).toEqual(found.rows);
  expect(counts()).toMatchObject({ events: 0, rows: REQUESTS });
});

test('with two pages a row is made once', async () => {
  const { send, feed } = await edge();
  const readers = [await feed(), await feed()];
  for (let at = 0; at < REQUESTS; at++) await send('/');
  for (const reader of readers) {
    await reader.until(({ rows }) => rows.filter(({ state }) => state === 'done').length === REQUESTS);
    reader.close();
  }
  const shownOpen = readers[0]!.rows.filter(({ state }) => state === 'open').length;
  expect(counts().rows).toBe(REQUESTS + shownOpen);
  expect(counts().events).toBe(0);
  expect(counts().texts).toBeGreaterThan(0);
});

test('after the last page has left, requests make nothing again', async () => {
  const { send, feed, inspector } = await edge();
  const reader = await feed();
  await send('/');
  await reader.until(({ rows }) => rows.some(({ state }) => state === 'done'));
  expect(counts().rows).toBeGreaterThan(0);
  reader.close();
  await expect.poll(() => inspector.context.store.isWatched).toBe(false);
  vi.clearAllMocks();
  for (let at = 0; at < REQUESTS; at++) await send('/');
  expect(counts()).toEqual(NOTHING);
});

test('the event of an exchange is the same each time, under each configuration', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const { send, ok, edge: swapping, inspector } = await inspected(edgeTo(address));
  await send('/items/1');
  const read = async () => (await ok<ExchangeDetail>('GET', '/api/exchanges/1')).event;
  const first = await read();
  expect(first).not.toBeNull();
  expect(first!.event_id).toBe((await ok<SearchAnswer>('POST', '/api/search', {})).rows[0]!.eventId);
  expect(await read()).toEqual(first);
  swapping.swap(edgeTo(address));
  await expect.poll(() => inspector.context.store.find(1)!.live).toBeNull();
  expect(await read()).toEqual(first);
});
