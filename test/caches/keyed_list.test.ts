import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedList } from '../../src/caches/keyed_list.ts';
import { runs, sized } from '../random.ts';

const keyOf = (number: number): string => `k${String(number).padStart(6, '0')}`;
const item = (number: number) => ({ number });

describe('KeyedList', () => {
  it('changed again and again is the sorted map of what it was given, and knows what differs', () => {
    const change = fc.array(fc.tuple(fc.nat(runs(4_000, 1_500)), fc.boolean()), { maxLength: 300 });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.nat(1_500), (changes, size) => {
        const known = new Map(Array.from({ length: size }, (_, at) => [keyOf(at * 2), item(at)]));
        let list = KeyedList.of([...known.values()], [...known.keys()]);
        const first = list;
        const before = new Set(known.values());
        for (const changed of changes) {
          const given = new Map(
            changed.map(([number, isThere]) => [keyOf(number), isThere ? item(number) : null]),
          );
          const former = [...list];
          const next = list.with(given);
          expect([...list]).toEqual(former);
          list = next;
          for (const [key, each] of given) {
            if (each === null) known.delete(key);
            else known.set(key, each);
          }
        }
        const sorted = [...known].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
        expect(list.length).toBe(sorted.length);
        expect(list.toArray()).toEqual(sorted);
        expect([...list]).toEqual(sorted);
        for (let at = 0; at < sorted.length; at += 97) expect(list.indexOf(sorted[at]!)).toBe(at);
        expect(list.indexOf(item(0))).toBe(-1);
        const { removed, added } = list.changeFrom(first);
        expect(new Set(added)).toEqual(new Set(sorted.filter((each) => !before.has(each))));
        expect(new Set(removed)).toEqual(
          new Set(Array.from(before).filter((each) => !sorted.includes(each))),
        );
      }),
      sized(200, 3),
    );
  });

  it('shares the items that a change does not concern', () => {
    const count = runs(100_000, 10_000);
    const items = Array.from({ length: count }, (_, at) => item(at));
    const list = KeyedList.of(
      items,
      items.map((_, at) => keyOf(at)),
    );
    const next = list.with(new Map([[keyOf(count >> 1), null]]));
    const { removed, added } = next.changeFrom(list);
    expect([removed, added]).toEqual([[items[count >> 1]], []]);
    expect(next.length).toBe(count - 1);
  });
});
