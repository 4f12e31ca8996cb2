import { describe, expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { runs, seeded } from '../random.ts';
import { type RandomRule, chanceOf, randomEdge, randomRule } from './random_edges.ts';

/** Changes that change nothing, and laws that comparisons obey. */

function configOf(rules: readonly RandomRule[]): EdgeConfig {
  return createEdge(randomEdge(rules)).config;
}

const MIRRORED = { OPENED: 'CLOSED', CLOSED: 'OPENED', REROUTED: 'REROUTED', CHANGED: 'CHANGED' } as const;

describe('laws of comparisons', () => {
  test('nothing differs from itself; the other way round, changes are mirrored', { timeout: 600_000 }, () => {
    const chance = chanceOf(seeded(31));
    let different = 0;
    for (let round = 0; round < runs(60, 3); round++) {
      const rules = Array.from({ length: 1 + Math.floor(chance.real() * 3) }, () => randomRule(chance));
      const others = rules.with(Math.floor(chance.real() * rules.length), randomRule(chance));
      const [one, other] = [{ config: configOf(rules) }, { config: configOf(others) }];
      expect([rules, compare(one, { config: configOf(rules) }).verdict]).toEqual([rules, 'equivalent']);
      const [there, back] = [compare(one, other), compare(other, one)];
      expect([rules, others, back.verdict]).toEqual([rules, others, there.verdict]);
      const kinds = new Set(there.changes.map(({ change }) => MIRRORED[change]));
      expect([rules, others, new Set(back.changes.map(({ change }) => change))]).toEqual([
        rules,
        others,
        kinds,
      ]);
      if (there.verdict === 'different') different++;
    }
    expect(different).toBeGreaterThan(0);
  });

  test('equivalence is transitive', { timeout: 600_000 }, () => {
    const chance = chanceOf(seeded(32));
    for (let round = 0; round < runs(60, 3); round++) {
      const rules = Array.from({ length: 2 }, () => randomRule(chance));
      const steps = [
        rules,
        ...[doubled, negatedTwice].map((change) => change(rules)),
        negatedTwice(doubled(rules)),
      ];
      const configs = steps.map((each) => ({ config: configOf(each) }));
      for (const other of configs.slice(1))
        expect([rules, compare(configs[0]!, other).verdict]).toEqual([rules, 'equivalent']);
      expect([rules, compare(configs[1]!, configs[3]!).verdict]).toEqual([rules, 'equivalent']);
    }
  });
});

function doubled(rules: readonly RandomRule[]): readonly RandomRule[] {
  return rules.map((rule) => ({
    ...rule,
    expressions: rule.expressions.map((each) => `(${each}) && (${each})`),
  }));
}

function negatedTwice(rules: readonly RandomRule[]): readonly RandomRule[] {
  return rules.map((rule) => ({ ...rule, expressions: rule.expressions.map((each) => `!(!(${each}))`) }));
}

test('disjoint rules in any order, and terms of && in any order', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(33));
  for (let round = 0; round < runs(60, 3); round++) {
    const rules = ['GET', 'POST', 'PUT', 'DELETE'].map(
      (method, at): { readonly terms: readonly string[]; readonly actions: RandomRule['actions'] } => ({
        terms: [
          `req.method == '${method}'`,
          `inCidrRange(conn.client_ip, '10.${at}.0.0/16')`,
          `req.headers['x-team'][0] == 't${Math.floor(chance.real() * 3)}'`,
        ],
        actions: [{ type: 'deny', config: { status_code: 400 + at } }],
      }),
    );
    const shuffled = <T>(list: readonly T[]): readonly T[] =>
      list
        .map((each) => [chance.real(), each] as const)
        .toSorted(([one], [other]) => one - other)
        .map(([, each]) => each);
    const written = (all: typeof rules): readonly RandomRule[] =>
      all.map(({ terms, actions }) => ({ expressions: [shuffled(terms).join(' && ')], actions }));
    const [before, after] = [written(rules), written([...shuffled(rules)])];
    const { verdict, undecided } = compare({ config: configOf(before) }, { config: configOf(after) });
    expect([before, after, verdict, undecided]).toEqual([before, after, 'equivalent', []]);
  }
});

test('a range, and all of its parts', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(34));
  for (let round = 0; round < runs(60, 3); round++) {
    const bits = 8 + Math.floor(chance.real() * 6);
    const depth = 1 + Math.floor(chance.real() * 4);
    const base = (0x0a00_0000 >>> (32 - bits)) << (32 - bits);
    const parts = Array.from({ length: 2 ** depth }, (_, at) => {
      const from = (base + at * 2 ** (32 - bits - depth)) >>> 0;
      return `${[24, 16, 8, 0].map((shift) => (from >>> shift) & 255).join('.')}/${bits + depth}`;
    });
    const rule = (ranges: readonly string[]): RandomRule => ({
      expressions: [`inCidrRanges(conn.client_ip, ${JSON.stringify(ranges)})`],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    });
    const whole = rule([`10.0.0.0/${bits}`]);
    const verdictOf = (ranges: readonly string[]) =>
      compare({ config: configOf([whole]) }, { config: configOf([rule(ranges)]) }).verdict;
    expect([parts, verdictOf(parts)]).toEqual([parts, 'equivalent']);
    expect([parts, verdictOf(parts.slice(1))]).toEqual([parts, 'different']);
  }
});
