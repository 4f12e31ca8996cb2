import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DenseList, type Slotted } from '../../src/io/dense_list.ts';
import { sized } from '../random.ts';

const ITEMS = 12;
const steps = fc.array(
  fc.oneof(
    fc.record({ add: fc.nat({ max: ITEMS - 1 }) }),
    fc.record({ remove: fc.nat({ max: ITEMS - 1 }) }),
    // While all are visited, one of these numbers is removed at each item.
    fc.record({ visitAndRemove: fc.array(fc.nat({ max: ITEMS - 1 }), { maxLength: ITEMS }) }),
  ),
  { maxLength: 60 },
);

test('a dense list has what a set has, and visits all that stay', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const items: Slotted[] = Array.from({ length: ITEMS }, () => ({ slot: -1 }));
      const list = new DenseList();
      const model = new Set<Slotted>();
      for (const step of all) {
        if ('add' in step) {
          list.add(items[step.add]!);
          model.add(items[step.add]!);
        } else if ('remove' in step) {
          list.remove(items[step.remove]!);
          model.delete(items[step.remove]!);
        } else {
          const leaving = [...step.visitAndRemove];
          const visited = new Set<Slotted>();
          for (const item of list) {
            expect(model.has(item)).toBe(true);
            visited.add(item);
            const next = leaving.shift();
            if (next === undefined) continue;
            list.remove(items[next]!);
            model.delete(items[next]!);
          }
          for (const item of model) expect(visited.has(item)).toBe(true);
        }
        expect(list.size).toBe(model.size);
        expect(new Set(list)).toEqual(model);
      }
    }),
    sized(2_000),
  );
});
