import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Label, type LabelPlace, labelPlaces } from '../../src/pages/plot_labels.ts';
import { sized } from '../random.ts';

test('labels that are close have rows of their own, and a label without room is left out', () => {
  const at = (left: number): Label => ({ at: left, width: 50 });
  expect(labelPlaces([at(0), at(40), at(45), at(100), at(990)], 1_000, 6)).toEqual([
    { left: 0, row: 0 },
    { left: 40, row: 1 },
    null,
    { left: 100, row: 0 },
    { left: 950, row: 0 },
  ]);
});

test('no label covers another, or passes the edge', () => {
  const label = fc.record({ at: fc.nat(1_000), width: fc.nat(200) });
  fc.assert(
    fc.property(fc.array(label), (given) => {
      const labels = given.toSorted((one, other) => one.at - other.at);
      const ends = new Map<number, number>();
      const places = labelPlaces(labels, 1_000, 6);
      const placed = labels.flatMap(({ width }, index): (LabelPlace & { width: number })[] => {
        const place = places[index];
        return place ? [{ ...place, width }] : [];
      });
      for (const { left, row, width } of placed.toSorted((one, other) => one.left - other.left)) {
        expect(left + width).toBeLessThanOrEqual(1_000);
        expect(left).toBeGreaterThanOrEqual(ends.get(row) ?? 0);
        ends.set(row, left + width);
      }
      expect(places[0]).not.toBeNull();
    }),
    sized(500),
  );
});
