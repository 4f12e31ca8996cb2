import { expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { observe } from '../../src/analysis/witness.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { chanceOf, randomEdge, randomRequest, randomResponseRule, randomRule } from './random_edges.ts';
import { ended } from './classify.ts';

const REQUESTS = 60;

test('what is called equivalent looks alike for every request that is tried', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(7));
  const verdicts = { equivalent: 0, different: 0, undecided: 0 };
  for (let round = 0; round < runs(160, 8); round++) {
    const rules = Array.from({ length: 1 + Math.floor(chance.real() * 4) }, () => randomRule(chance));
    const others = chance.pick([
      () => rules.toReversed(),
      () => rules.with(Math.floor(chance.real() * rules.length), randomRule(chance)),
      () => [...rules, rules[0]!],
      () => rules.map((rule) => ({ ...rule, expressions: rule.expressions.toReversed() })),
    ])();
    const responses = Array.from({ length: Math.floor(chance.real() * 3) }, () => randomResponseRule(chance));
    const otherResponses = chance.real() < 0.6 ? responses : responses.toReversed();
    const [one, other] = [randomEdge(rules, responses), randomEdge(others, otherResponses)].map(
      (each) => createEdge(each).config,
    );
    const { verdict } = compare({ config: one! }, { config: other! });
    verdicts[verdict]++;
    if (verdict !== 'equivalent') continue;
    const models = [one, other].map((config) => new Model(config!, new Analysis()));
    for (let each = 0; each < REQUESTS; each++) {
      const request = randomRequest(chance);
      const [seen, other_] = models.map((model) => observe(model, request)!.seen);
      expect([request, one, other, other_]).toEqual([request, one, other, seen]);
    }
  }
  expect(verdicts.equivalent).toBeGreaterThan(0);
  expect(verdicts.different).toBeGreaterThan(0);
});

test('the outcome of the class of a request is that of the engine', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(8));
  let decided = 0;
  let asked = 0;
  for (let round = 0; round < runs(400, 20); round++) {
    const rules = Array.from({ length: Math.floor(chance.real() * 5) }, () => randomRule(chance));
    const responses = Array.from({ length: Math.floor(chance.real() * 2) }, () => randomResponseRule(chance));
    const model = new Model(createEdge(randomEdge(rules, responses)).config, new Analysis());
    for (let each = 0; each < (IS_FULL ? 2_500 : REQUESTS); each++) {
      const request = randomRequest(chance);
      asked++;
      const outcome = ended(model, request);
      if (outcome === null) continue;
      decided++;
      const { explanation, backend, status } = observe(model, request)!;
      const stopped = explanation.decidedBy.verdict === 'stop';
      const engine = stopped ? 'stopped' : `forwarded to ${backend}`;
      const expected = outcome.end === 'forwarded' ? `forwarded to ${outcome.by}` : 'stopped';
      if (engine !== expected)
        expect([request, rules, status, engine]).toEqual([request, rules, status, expected]);
    }
  }
  expect(decided).toBeGreaterThan(asked / 2);
});
