import fc from 'fast-check';
import { expect, test } from 'vitest';
import { histogram } from '../../src/simulator/histogram.ts';
import { sized } from '../random.ts';

test('quantiles agree with a sorted list to two percent', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.9, 0.99, 1),
      (durations, share) => {
        const found = histogram();
        for (const ms of durations) found.add(ms);
        const sorted = durations.toSorted((one, other) => one - other);
        const exact = sorted[Math.ceil(share * sorted.length) - 1]!;
        expect(found.count()).toBe(durations.length);
        expect(Math.abs(found.quantile(share) / exact - 1)).toBeLessThan(0.02);
      },
    ),
    sized(500),
  );
});

test('what is too short counts as 0, and what is too long takes no more memory', () => {
  const found = histogram();
  for (const ms of [0, 0.0001, -1, Number.NaN]) found.add(ms);
  expect(found.quantile(1)).toBe(0);
  for (const ms of [Number.POSITIVE_INFINITY, Number.MAX_VALUE]) found.add(ms);
  expect(found.count()).toBe(6);
  expect(found.quantile(0.5)).toBe(0);
  expect(found.quantile(1)).toBeGreaterThan(1e13);
  expect(histogram().quantile(0.5)).toBe(0);
});
