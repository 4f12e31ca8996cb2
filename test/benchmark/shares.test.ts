import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shareTexts } from '../../src/benchmark/report/numbers.ts';
import { sharesOf } from '../../src/benchmark/profile.ts';
import type { LocatedCost } from '../../src/benchmark/result.ts';
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

it('the shares of a report add up to 100 %', () => {
  const cost = fc.record({
    kind: fc.constantFrom('module' as const, 'rule' as const),
    share: fc.double({ min: 0, max: 1e6, noNaN: true }),
    isShown: fc.boolean(),
  });
  const number = (text: string): number => Number(text.replace(' %', ''));
  fc.assert(
    fc.property(fc.array(cost), fc.double({ min: 1, max: 1e6, noNaN: true }), (costs, decisionNs) => {
      const parts = sharesOf(costs, decisionNs) as never as (LocatedCost & { readonly isShown: boolean })[];
      const rest = parts.filter(({ isShown }) => !isShown);
      const { of, own, small } = shareTexts(parts, rest);
      const shown = parts.filter(({ kind, isShown }) => kind === 'module' && isShown);
      const texts = [own, small, ...shown.map(of)];
      for (const text of texts) expect(text).toMatch(/^\d+\.\d %$/);
      expect(texts.reduce((sum, text) => sum + number(text), 0)).toBeCloseTo(100, 6);
      for (const part of shown)
        expect(Math.abs(number(of(part)) - part.share * 100)).toBeLessThanOrEqual(0.1001);
    }),
    sized(300, 7),
  );
});
