import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { sized } from '../random.ts';
import { type Operation, isLinearizable } from './linearizability.ts';

/** A history of a register that takes each operation at one moment: at most `width` at a time, some without an answer. */
const histories = fc
  .array(
    fc.record({
      isWrite: fc.boolean(),
      /** Whether no answer came; then a write counts or does not. */
      isLost: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
      takesEffect: fc.boolean(),
      before: fc.double({ min: 0, max: 3, noNaN: true }),
      after: fc.double({ min: 0.01, max: 3, noNaN: true }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((made) => {
    let value: string | null = null;
    return made.map(({ isWrite, isLost, takesEffect, before, after }, moment): Operation => {
      const times = { start: moment - before, end: isLost ? Infinity : moment + after };
      if (!isWrite) return { kind: 'read', value, ...times };
      const own = `v${moment}`;
      if (!isLost || takesEffect) value = own;
      return { kind: 'write', value: own, ...times };
    });
  });

const write = (value: string, start: number, end: number): Operation => ({
  kind: 'write',
  value,
  start,
  end,
});
const read = (value: string | null, start: number, end: number): Operation => ({
  kind: 'read',
  value,
  start,
  end,
});

describe('the checker of histories', () => {
  it('accepts every history of a register', () => {
    fc.assert(
      fc.property(histories, (history) => isLinearizable(history)),
      sized(2_000),
    );
  });

  it('finds a planted read of an older value, of a lost write and of one that was never made', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom('old', 'lost', 'never'), (history, plant) => {
        const last = Math.max(...history.map(({ start, end }) => (end === Infinity ? start : end))) + 4;
        const later = [...history, write('w1', last, last + 1), write('w2', last + 2, last + 3)];
        const seen = { old: 'w1', lost: null, never: 'x' }[plant];
        expect(isLinearizable([...later, read('w2', last + 4, last + 5)])).toBe(true);
        expect(isLinearizable([...later, read(seen, last + 4, last + 5)])).toBe(false);
      }),
      sized(2_000),
    );
  });

  it('knows what may overlap, and that nothing goes back', () => {
    expect(isLinearizable([write('a', 0, 10), read(null, 1, 2), read('a', 3, 4)])).toBe(true);
    expect(isLinearizable([write('a', 0, 10), read('a', 1, 2), read(null, 3, 4)])).toBe(false);
    expect(isLinearizable([write('a', 0, Infinity), read(null, 5, 6), read('a', 7, 8)])).toBe(true);
    expect(isLinearizable([write('a', 0, Infinity), read('a', 5, 6), read(null, 7, 8)])).toBe(false);
    expect(isLinearizable([write('a', 0, 1), write('b', 0, 1), read('a', 2, 3), read('b', 4, 5)])).toBe(
      false,
    );
  });
});
