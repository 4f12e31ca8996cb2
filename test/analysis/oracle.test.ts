import { afterAll, describe, expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { onePolicy } from '../one_route.ts';
import { runs, seeded } from '../random.ts';
import { type Condition, DECLARATIONS, and, not, or, randomCondition } from './oracle.ts';
import { type Chance, chanceOf } from './random_edges.ts';
import { Solver } from './solver.ts';

/** A rule of a policy: it denies, or adds a field that names it. */
interface RandomRule {
  readonly when: Condition;
  readonly ends: boolean;
}

/** A factor of 10 asks about 10,000 pairs of conditions and 2,000 of policies. */
describe('verdicts are those of z3', () => {
  const solver = new Solver();
  afterAll(() => solver.end());

  test('for pairs of conditions', { timeout: 3_600_000 }, async () => {
    const chance = chanceOf(seeded(21));
    const seen = { equivalent: 0, different: 0, undecided: 0, unknown: 0 };
    for (let round = 0; round < runs(500, 20); round++) {
      const one = randomCondition(chance, 'all');
      const other = chance.real() < 0.5 ? rewritten(chance, one) : randomCondition(chance, 'all');
      const rules = [one, other].map((when) => [{ when, ends: false }]);
      await agree(solver, rules as unknown as Pair, seen);
    }
    // The answers would say little if all were alike.
    expect(seen.equivalent * seen.different).toBeGreaterThan(0);
    expect(seen.undecided).toBe(0);
  });

  test(
    'for pairs of conditions on lists, numbers, times, cookies and parameters',
    { timeout: 3_600_000 },
    async () => {
      const rounds = runs(500, 30);
      const chance = chanceOf(seeded(23));
      const seen = { equivalent: 0, different: 0, undecided: 0, unknown: 0 };
      for (let round = 0; round < rounds; round++) {
        const one = randomCondition(chance, 'values', 1);
        const other = chance.real() < 0.5 ? rewritten(chance, one) : randomCondition(chance, 'values', 1);
        const rules = [one, other].map((when) => [{ when, ends: true }]);
        await agree(solver, rules as unknown as Pair, seen);
      }
      expect(seen.equivalent * seen.different).toBeGreaterThan(0);
      // The solver gives up on some replacements.
      expect(seen.unknown).toBeLessThan(rounds / 5);
    },
  );

  test('for pairs of policies', { timeout: 3_600_000 }, async () => {
    const chance = chanceOf(seeded(22));
    const seen = { equivalent: 0, different: 0, undecided: 0, unknown: 0 };
    for (let round = 0; round < runs(200, 10); round++) {
      const rules = Array.from({ length: 1 + Math.floor(chance.real() * 4) }, () => randomRule(chance));
      const at = Math.floor(chance.real() * rules.length);
      const { when, ends } = rules[at]!;
      const others = chance.pick([
        () => rules.with(at, { ends, when: rewritten(chance, when) }),
        () => rules.with(at, { ends, when: randomCondition(chance, 'no path', 1) }),
        () => rules.with(at, { ends, when: and(when, when) }),
      ])();
      await agree(solver, [rules, others], seen);
    }
    expect(seen.equivalent * seen.different).toBeGreaterThan(0);
    expect(seen.undecided).toBe(0);
  });
});

type Pair = readonly [readonly RandomRule[], readonly RandomRule[]];

async function agree(solver: Solver, pair: Pair, seen: Record<string, number>): Promise<void> {
  const [before, after] = pair.map((rules) => ({ config: createEdge(onePolicy(policyOf(rules))).config }));
  const { verdict, undecided } = compare(before!, after!);
  const answer = await solver.check(`${DECLARATIONS}\n(assert ${differs(pair)})`);
  expect(['sat', 'unsat', 'unknown']).toContain(answer);
  seen[answer === 'unknown' ? 'unknown' : verdict]!++;
  if (answer === 'unknown') return;
  const texts = pair.map((rules) => rules.map(({ when }) => when.cel));
  // No request sets the time or its port: what differs only by them is named, and not shown.
  const isShown = !/time\.now|client_port/.test(texts.join());
  const expected =
    answer === 'unsat' ? 'equivalent' : isShown || verdict === 'different' ? 'different' : 'undecided';
  expect([texts, verdict]).toEqual([texts, expected]);
  const reasons = undecided.flatMap((each) => each.reasons).join();
  if (verdict === 'undecided') expect(reasons).toMatch(/time\.now|client_port/);
}

function policyOf(rules: readonly RandomRule[]): object {
  return {
    on_http_request: rules.map(({ when, ends }, at) => ({
      expressions: [when.cel],
      actions: [
        ends
          ? { type: 'deny', config: { status_code: 400 + at } }
          : { type: 'add-headers', config: { headers: { [`x-rule-${at}`]: '1' } } },
      ],
    })),
  };
}

/** When two policies are seen to differ: in an error, in the rule that denies, or in a field that the upstream gets. */
function differs(pair: Pair): string {
  const [one, other] = pair.map(observations);
  const pairs = one!.map((each, at) => `(not (= ${each} ${other![at]}))`);
  return `(or ${pairs.join(' ')})`;
}

function observations(rules: readonly RandomRule[]): string[] {
  let running = 'true';
  const fails: string[] = [];
  const denies: string[] = [];
  const applies: string[] = [];
  for (const { when, ends } of rules) {
    fails.push(`(and ${running} (not ${when.isTrue}) (not ${when.isFalse}))`);
    (ends ? denies : applies).push(`(and ${running} ${when.isTrue})`);
    running = `(and ${running} ${ends ? when.isFalse : `(or ${when.isTrue} ${when.isFalse})`})`;
  }
  const forwarded = running;
  return [`(or ${fails.join(' ')})`, ...denies, ...applies.map((each) => `(and ${forwarded} ${each})`)];
}

function randomRule(chance: Chance): RandomRule {
  return { when: randomCondition(chance, 'no path', 1), ends: chance.real() < 0.4 };
}

/** The same condition in other words, or nearly the same. */
function rewritten({ pick, real }: Chance, condition: Condition): Condition {
  const { cel, isTrue, isFalse } = condition;
  return pick([
    () => not(not(condition)),
    () => and(condition, condition),
    () => or(condition, condition),
    () => not(condition),
    () => and(condition, randomCondition({ pick, real }, 'no path', 0)),
    () => ({ cel: `(${cel} ? true : false)`, isTrue, isFalse }),
  ])();
}
