import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Facet, predicateOf } from '../../src/inspector/ui/facets.ts';
import { RowStore } from '../../src/inspector/ui/row_store.ts';
import { eventBlocks } from '../../src/inspector/ui/server.ts';
import { countUpTo, visibleRange } from '../../src/inspector/ui/virtual_range.ts';
import { rowOf, stoppedRow } from './exchanges.ts';

const facet = (name: Facet['name'], value: string, isNegated = false): Facet => ({ name, value, isNegated });
const filterOf = (text: string, facets: readonly Facet[] = [], found: readonly number[] = []) =>
  predicateOf({ text, facets, found: new Set(found) });

describe('filters', () => {
  const row = stoppedRow(1);
  test.each([
    ['', [], true],
    ['ADMIN 403', [], true],
    ['admin 404', [], false],
    ['', [facet('status', '4xx')], true],
    ['', [facet('status', '4xx', true)], false],
    ['', [facet('status', '200'), facet('status', '403')], true],
    ['', [facet('status', '403'), facet('method', 'POST')], false],
    ['', [facet('code', 'ip.denied'), facet('client', '203.0.113.9')], true],
  ])('%j %j', (text, facets, holds) => {
    expect(filterOf(text, facets)(row)).toBe(holds);
  });

  test('a row is shown in whose body the server found the text', () => {
    expect(filterOf('lamp')(row)).toBe(false);
    expect(filterOf('lamp', [], [1])(row)).toBe(true);
  });
});

describe('rows', () => {
  test('whatever comes, the shown ones are those of the filter, in order, and the rest is counted', () => {
    const batch = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 20 }), (batches) => {
        const store = new RowStore(30);
        const isStop = filterOf('', [facet('verdict', 'stop')]);
        store.show(isStop);
        const seen = new Set<number>();
        for (const rows of batches) {
          store.add(rows.map(([seq, isStopped]) => (isStopped ? stoppedRow(seq) : rowOf(seq))));
          for (const [seq] of rows) seen.add(seq);
          const shown = store.shown();
          expect(shown).toEqual([...new Set(shown)].toSorted((one, other) => one - other));
          expect(shown.every((seq) => isStop(store.get(seq)!))).toBe(true);
          expect(store.size).toBeLessThan(34);
        }
        if (seen.size <= 30) expect(store.dropped).toBe(0);
      }),
    );
  });

  test('pinned rows stay', () => {
    const store = new RowStore(20);
    store.add([rowOf(1, { pinned: true }), ...Array.from({ length: 40 }, (_, index) => rowOf(index + 2))]);
    expect(store.shown().slice(0, 2)).toEqual([1, 22]);
    expect(store.dropped).toBe(20);
    store.clear();
    expect(store.shown()).toEqual([1]);
  });

  test('a row that changes may leave the filter', () => {
    const store = new RowStore(20);
    store.show(filterOf('', [facet('status', '')]));
    store.add([rowOf(1, { status: null, state: 'open' })]);
    expect(store.shown()).toEqual([1]);
    store.add([rowOf(1)]);
    expect(store.shown()).toEqual([]);
  });
});

test('the visible part of a long list', () => {
  expect(visibleRange(0, 600, 30, 5000)).toEqual({ first: 0, end: 26 });
  expect(visibleRange(30_000, 600, 30, 5000)).toEqual({ first: 994, end: 1026 });
  expect(visibleRange(30_000, 600, 30, 3)).toEqual({ first: 3, end: 3 });
  expect([0, 1, 4, 9].map((limit) => countUpTo([1, 3, 5], limit))).toEqual([0, 1, 2, 3]);
});

test('a feed is read however it is cut', () => {
  const text = ': hello\n\nid: 7\ndata: {"a":\ndata: 1}\n\ndata: {}\n\n';
  const all = [
    { data: '{"a":\n1}', id: '7' },
    { data: '{}', id: null },
  ];
  for (let at = 0; at < text.length; at++) {
    const blocks = eventBlocks();
    expect([...blocks(text.slice(0, at)), ...blocks(text.slice(at))]).toEqual(all);
  }
});
