import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sharesOf } from '../../src/benchmark/profile.ts';
import { sized } from '../random.ts';

it('shares of a decision are at most all of it, and so are modules together', () => {
  const cost = fc.record({
    kind: fc.constantFrom('module' as const, 'rule' as const),
    share: fc.double({ min: 0, max: 1e6, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(cost), fc.double({ min: 0, max: 1e6, noNaN: true }), (costs, decisionNs) => {
      const shares = sharesOf(costs, decisionNs);
      const modules = shares.filter(({ kind }) => kind === 'module');
      expect(modules.reduce((sum, { share }) => sum + share, 0)).toBeLessThanOrEqual(1 + 1e-9);
      for (const { share } of shares) expect(share >= 0 && share <= 1).toBe(true);
    }),
    sized(300, 7),
  );
  expect(sharesOf([{ kind: 'module', share: 25 }], 100)).toEqual([{ kind: 'module', share: 0.25 }]);
});
