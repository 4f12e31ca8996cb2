import { expect, it, vi } from 'vitest';
import { listRows } from '../../src/control/api/list.ts';

/** Lists of rows that are in memory, such as tens of thousands of sessions of logins. */

const rows = Array.from({ length: 1_000 }, (_, number) => `as_${String(999 - number).padStart(3, '0')}`);

function list(isInOrder: boolean) {
  const show = vi.fn((id: string) => ({ id }));
  const place = {
    key: 'application_sessions',
    uri: 'http://x.test/app/sessions',
    title: 'application session',
  };
  return { ...place, rows, idOf: (id: string) => id, isInOrder, show };
}

const query = { limit: 2, beforeId: undefined, filter: undefined, chosen: [] };
const idsIn = ({ text }: { text: string }): string[] =>
  JSON.parse(text).application_sessions.map(({ id }: { id: string }) => id);

it('only the rows of the page are put together, and the one after it', async () => {
  const all = list(true);
  expect(idsIn(await listRows(all, { ...query, beforeId: 'as_500' }))).toEqual(['as_499', 'as_498']);
  expect(all.show).toHaveBeenCalledTimes(3);
});

it.each([
  ['starts at its place', true, 'as_500x', 'as_500'],
  ['is empty if it would be the last', true, 'as_', undefined],
  ['starts again without an order of ids', false, 'as_500x', 'as_999'],
])('a page after a row that is gone %s', async (_, isInOrder, beforeId, first) => {
  expect(idsIn(await listRows(list(isInOrder), { ...query, beforeId }))[0]).toBe(first);
});

it('a filter of many rows leaves turns to others, and ends when the client leaves', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  let turns = 0;
  const count = (): unknown => ++turns < 10 && setImmediate(count);
  setImmediate(count);
  const all = list(true);
  const filtered = { ...query, filter: 'obj.id == "none"' };
  expect(idsIn(await listRows(all, filtered, () => turns >= 10))).toEqual([]);
  vi.restoreAllMocks();
  expect(turns).toBe(10);
  expect(all.show.mock.calls.length).toBeLessThan(rows.length);
});
