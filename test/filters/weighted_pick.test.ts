import { describe, expect, it } from 'vitest';

import { compileWeights } from '../../src/filters/backend/algorithm.ts';
import { seeded } from '../random.ts';

const ALMOST_ONE = 1 - 2 ** -53;

describe('weighted pick', () => {
  it('gives each position its share of [0, 1), in order, to the last representable number', () => {
    const { pick } = compileWeights([1, 0, 3]);
    expect([0, 0.25 - 2 ** -54, 0.25, ALMOST_ONE].map(pick)).toEqual([0, 0, 2, 2]);
  });

  it('returns -1 without weights', () => {
    expect(compileWeights([]).pick(0.5)).toBe(-1);
    expect(compileWeights([0, 0]).pick(0)).toBe(-1);
    expect(compileWeights([0, 0]).total).toBe(0);
  });

  it('never chooses a weight of zero, even at boundaries', () => {
    const random = seeded(9);
    const wrong: unknown[] = [];
    for (let round = 0; round < 2_000; round++) {
      const weights = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
        random() < 0.4 ? 0 : Math.floor(random() * 10_001),
      );
      const { pick, total } = compileWeights(weights);
      if (total === 0) continue;
      let below = 0;
      for (const weight of weights) {
        below += weight;
        for (const edge of [
          below / total,
          below / total - 2 ** -53,
          below / total + 2 ** -53,
          0,
          ALMOST_ONE,
        ]) {
          if (edge < 0 || edge >= 1) continue;
          const chosen = pick(edge);
          if (!(weights[chosen]! > 0)) wrong.push({ weights, edge, chosen });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('agrees with a naive implementation for any number of weights', () => {
    const random = seeded(10);
    const wrong: unknown[] = [];
    for (const count of [1, 2, 3, 10, 1_000]) {
      const weights = Array.from({ length: count }, () => Math.floor(random() * 10_001));
      const { pick, total } = compileWeights(weights);
      for (let round = 0; round < 5_000; round++) {
        const chance = random();
        let rest = chance * total;
        const expected = weights.findIndex((weight) => (rest -= weight) < 0);
        // Where the point is within rounding of an edge, both neighbours are right.
        const chosen = pick(chance);
        if (chosen !== expected && Math.abs(rest) > 1e-6) wrong.push({ chance, chosen, expected });
      }
    }
    expect(wrong).toEqual([]);
  });

  it('matches the weights over 100,000 picks', () => {
    const picks = 100_000;
    const weights = [1, 0, 2, 3, 10_000, 500, 0, 2_500, 9, 5_000];
    const { pick, total } = compileWeights(weights);
    const random = seeded(11);
    const counts = weights.map(() => 0);
    for (let count = 0; count < picks; count++) counts[pick(random())]! += 1;
    expect(counts.filter((count, index) => weights[index] === 0 && count > 0)).toEqual([]);
    let chiSquare = 0;
    for (const [index, weight] of weights.entries()) {
      const expected = (picks * weight) / total;
      if (weight > 0) chiSquare += (counts[index]! - expected) ** 2 / expected;
    }
    // Seven degrees of freedom: above 24.3 once in a thousand.
    expect(chiSquare).toBeLessThan(24.3);
  });
});
