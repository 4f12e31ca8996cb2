import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamTable } from '../../src/http2/stream_table.ts';
import { sized } from '../random.ts';

const steps = fc.array(
  fc.oneof(
    // How much higher than the last one the id of a new stream is.
    fc.record({ open: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ end: fc.nat({ max: 100 }) }),
  ),
  { maxLength: 80 },
);

test('a table of streams has what a map by id has', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const table = new StreamTable();
      const model = new Map<number, { readonly id: number }>();
      let last = 0;
      for (const step of all) {
        if ('open' in step) {
          const stream = { id: (last += step.open) };
          table.add(stream);
          model.set(stream.id, stream);
        } else {
          table.delete(step.end);
          model.delete(step.end);
        }
        expect(table.values()).toEqual([...model.values()]);
        expect(table.size).toBe(model.size);
        for (let id = -1; id <= last + 1; id++) expect(table.get(id)).toBe(model.get(id));
      }
    }),
    sized(1_000),
  );
});
