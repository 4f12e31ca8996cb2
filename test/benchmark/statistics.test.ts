import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latencies } from '../../src/benchmark/histogram.ts';
import {
  bootstrap,
  comparePairs,
  compareRuns,
  mannWhitney,
  median,
  quantile,
} from '../../src/benchmark/statistics.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { runs, sized } from '../random.ts';

/** Times as machines give them: a floor, a spread and a long tail. */
function times(count: number, base: number, random: () => number): number[] {
  return Array.from({ length: count }, () => base * (1 + 0.05 * random() + (random() < 0.05 ? random() : 0)));
}

describe('the rank test', () => {
  it('gives the published result of an example', () => {
    // Mann and Whitney's statistic of these two rows is 11.5 of 56, counted by hand.
    const first = [19, 22, 16, 29, 24, 20, 17];
    const second = [20, 11, 17, 12, 9, 15, 10, 13];
    const pairs = first.flatMap((one) => second.map((other) => (other > one ? 1 : other === one ? 0.5 : 0)));
    const counted = pairs.reduce<number>((sum, each) => sum + each, 0) / pairs.length;
    const { p, effect } = mannWhitney(first, second);
    expect(effect).toBeCloseTo(counted, 12);
    expect(p).toBeGreaterThan(0.005);
    expect(p).toBeLessThan(0.02);
  });

  it('has the stated false positive rate', () => {
    const { random } = seededChance('equal');
    const rounds = runs(2_000, 1_000);
    let surprised = 0;
    for (let round = 0; round < rounds; round++) {
      if (mannWhitney(times(20, 100, random), times(20, 100, random)).p < 0.05) surprised++;
    }
    expect(surprised / rounds).toBeGreaterThan(0.03);
    expect(surprised / rounds).toBeLessThan(0.07);
  });

  it('does not depend on the order of either sample', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2 }),
        (one, other) => {
          expect(mannWhitney(one.toReversed(), other.toReversed())).toEqual(mannWhitney(one, other));
        },
      ),
    );
  });
});

describe('intervals', () => {
  it('contain the true median 95 times in a hundred', () => {
    const { random } = seededChance('interval');
    let held = 0;
    for (let round = 0; round < 200; round++) {
      const { low, high } = bootstrap(
        Array.from({ length: 40 }, () => random()),
        random,
      );
      if (low <= 0.5 && 0.5 <= high) held++;
    }
    expect(held).toBeGreaterThanOrEqual(180);
  });
});

describe('comparisons', () => {
  const { random } = seededChance('pairs');

  it('find no difference in twenty equal pairs', () => {
    for (let round = 0; round < 20; round++) {
      const drift = Array.from({ length: 100 }, () => 1 + random());
      const [one, other] = [times(100, 100, random), times(100, 100, random)].map((row) =>
        row.map((ns, at) => ns * drift[at]!),
      );
      expect(comparePairs(one!, other!, random).verdict).toBe('no difference');
      expect(compareRuns(one!, other!, random).verdict).toBe('no difference');
    }
  });

  it('find ten percent, in either direction, on a machine that drifts', () => {
    const drift = Array.from({ length: 100 }, (_, at) => 1 + at / 50);
    const one = times(100, 100, random).map((ns, at) => ns * drift[at]!);
    const slower = times(100, 110, random).map((ns, at) => ns * drift[at]!);
    expect(comparePairs(one, slower, random).verdict).toBe('slower');
    expect(comparePairs(slower, one, random).verdict).toBe('faster');
    expect(compareRuns(times(100, 100, random), times(100, 110, random), random).verdict).toBe('slower');
  });

  it('do not report a difference that is too small to matter', () => {
    const one = Array.from({ length: 200 }, (_, at) => 100 + (at % 7) * 0.01);
    expect(
      comparePairs(
        one,
        one.map((ns) => ns * 1.01),
        random,
      ).verdict,
    ).toBe('no difference');
  });
});

describe('the histogram', () => {
  it('agrees with a sorted list to a thousandth', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1e10 }), { minLength: 1, maxLength: 400 }),
        (numbers) => {
          const found = latencies();
          for (const number of numbers) found.record(number);
          const sorted = numbers.toSorted((one, other) => one - other);
          expect(found.count()).toBe(numbers.length);
          for (const share of [0.5, 0.9, 0.99, 0.999, 1]) {
            const exact = quantile(sorted, share);
            expect(Math.abs(found.at(share) - exact)).toBeLessThanOrEqual(Math.max(1, exact / 1_000));
          }
        },
      ),
      sized(300),
    );
  });
});

it('takes the mean of the middle two of an even count', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
});
