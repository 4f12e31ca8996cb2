import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PersistentMap } from '../../src/caches/persistent_map.ts';
import { runs, sized } from '../random.ts';
import { visitsOf } from '../visits.ts';

const sorted = <Value>(map: Iterable<readonly [string, Value]>) =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1));

describe('PersistentMap', () => {
  it('changed again and again is the map of what it was given, and knows what differs', () => {
    const change = fc.array(fc.tuple(fc.nat(600).map(String), fc.option(fc.nat(3), { nil: undefined })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), fc.nat(2_000), (changes, size) => {
        const known = new Map(Array.from({ length: size }, (_, at) => [String(at * 3), at % 4]));
        let map = PersistentMap.of(known);
        const first = map;
        const before = new Map(known);
        for (const given of changes) {
          const former = [...map];
          const next = map.with(given);
          expect([...map]).toEqual(former);
          map = next;
          for (const [key, value] of given) {
            if (value === undefined) known.delete(key);
            else known.set(key, value);
          }
        }
        expect(map.size).toBe(known.size);
        expect(sorted(map)).toEqual(sorted(known));
        expect(new Set(map.keys())).toEqual(new Set(known.keys()));
        for (let key = 0; key < 700; key++) expect(map.get(String(key))).toBe(known.get(String(key)));
        const differs = [...new Set([...known.keys(), ...before.keys()])].filter(
          (key) => known.get(key) !== before.get(key),
        );
        expect([...map.changedKeys(first)].sort()).toEqual(differs.sort());
        expect([...first.changedKeys(map)].sort()).toEqual(differs.sort());
        // Maps that share nothing are compared by what they have.
        expect([...map.changedKeys(PersistentMap.of(before))].sort()).toEqual(differs.sort());
        expect(map.with(known)).toBe(map);
      }),
      sized(200, 4),
    );
  });

  it('copies and compares only what is beside a change', () => {
    const count = runs(100_000, 10_000);
    const map = PersistentMap.of(Array.from({ length: count }, (_, at) => [`key ${at}`, { at }]));
    const other = { at: -1 };
    const visited = visitsOf(() => {
      const next = map.with([['key 7', other]]);
      expect([...next.changedKeys(map)]).toEqual(['key 7']);
      expect(next.get('key 7')).toBe(other);
    });
    expect(visited).toBeGreaterThan(0);
    expect(visited).toBeLessThan(1_000);
  });
});
