import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { latencies } from '../../src/benchmark/histogram.ts';
import {
  type Comparison,
  bootstrap,
  comparePairs,
  compareRuns,
  mannWhitney,
  median,
  quantile,
} from '../../src/benchmark/statistics.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { runs, sized } from '../random.ts';

/** Realistic times: a minimum, a spread and a long tail. */
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
    const rounds = runs(2_000, 60);
    let held = 0;
    for (let round = 0; round < rounds; round++) {
      const { low, high } = bootstrap(
        Array.from({ length: 40 }, () => random()),
        random,
      );
      if (low <= 0.5 && 0.5 <= high) held++;
    }
    expect(held / rounds).toBeGreaterThanOrEqual(0.9);
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
      expect(comparePairs(one!, other!).verdict).toBe('no difference');
      expect(compareRuns(one!, other!, random).verdict).toBe('no difference');
    }
  });

  it('find ten percent, in either direction, on a machine that drifts', () => {
    const drift = Array.from({ length: 100 }, (_, at) => 1 + at / 50);
    const one = times(100, 100, random).map((ns, at) => ns * drift[at]!);
    const slower = times(100, 110, random).map((ns, at) => ns * drift[at]!);
    expect(comparePairs(one, slower).verdict).toBe('slower');
    expect(comparePairs(slower, one).verdict).toBe('faster');
    expect(compareRuns(times(100, 100, random), times(100, 110, random), random).verdict).toBe('slower');
  });

  it('do not report a difference that is too small to matter', () => {
    const one = Array.from({ length: 200 }, (_, at) => 100 + (at % 7) * 0.01);
    expect(
      comparePairs(
        one,
        one.map((ns) => ns * 1.01),
      ).verdict,
    ).toBe('no difference');
  });
});

describe('pairs beside a noisy neighbour', () => {
  const PAIRS = 200;
  /** One slice of each in turn, on a machine whose other load comes and goes, and that drifts. */
  function pairOf(slices: number, ratio: number, random: () => number): Comparison {
    const lasts = 3 + random() * 60;
    let slowdown = 1;
    const slice = (base: number, at: number): number => {
      if (random() < 1 / lasts) slowdown = slowdown === 1 ? 1.1 + random() * 0.9 : 1;
      const drift = 1 + 0.1 * Math.sin((at / slices) * 6);
      return base * drift * slowdown * (1 - 0.05 * Math.log(1 - random()));
    };
    const [one, other]: [number[], number[]] = [[], []];
    for (let at = 0; at < slices; at++) {
      if (at % 2 === 0) one.push(slice(100, at));
      other.push(slice(100 * ratio, at));
      if (at % 2 === 1) one.push(slice(100, at));
    }
    return comparePairs(one, other);
  }
  const count = (slices: number, ratio: number, holds: (comparison: Comparison) => boolean): number => {
    const { random } = seededChance(`neighbour ${slices} ${ratio}`);
    return Array.from({ length: PAIRS }, () => pairOf(slices, ratio, random)).filter(holds).length;
  };

  it.each([[96], [500]])('at most 5 %% of the intervals of equal ones exclude 1: %d slices', (slices) => {
    expect(count(slices, 1, ({ ratio }) => ratio.low > 1 || ratio.high < 1)).toBeLessThanOrEqual(
      0.05 * PAIRS,
    );
    expect(count(slices, 1, ({ verdict }) => verdict !== 'no difference')).toBe(0);
  });

  it('five percent are found in at least 90 % of the pairs', () => {
    expect(count(500, 1.05, ({ verdict }) => verdict === 'slower')).toBeGreaterThanOrEqual(0.9 * PAIRS);
    expect(count(500, 1 / 1.05, ({ verdict }) => verdict === 'faster')).toBeGreaterThanOrEqual(0.9 * PAIRS);
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
