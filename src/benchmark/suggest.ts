import type { EdgeConfig } from '../edge/document/schema.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type BenchRequest, type Decider, decider } from './decision.ts';
import { estimateOfExpression } from './estimate.ts';
import { type MeterOptions, measure } from './meter.ts';
import { type PolicyRule, rawPolicy, rulesOf, withRoute } from './parts.ts';
import type { PartCost } from './profile.ts';
import { type Comparison, comparePairs } from './statistics.ts';

/** A change that keeps every decision on the corpus and was measured to be faster. */
export interface Suggestion {
  readonly message: string;
  /** Pointer of the policy that it changes. */
  readonly pointer: string;
  readonly comparison: Comparison;
}

interface Candidate {
  readonly message: string;
  readonly pointer: string;
  readonly config: EdgeConfig;
}

const MAX_CANDIDATES = 6;

/**
 * Looks for orders of rules and of conditions with the same decisions on the corpus and less time. Each
 * suggestion was run: first for equal effects on every request, then for time, side by side with the current
 * order.
 */
export async function suggest(
  config: EdgeConfig,
  corpus: readonly BenchRequest[],
  parts: readonly PartCost[],
  seed: number | string,
  options: MeterOptions,
): Promise<readonly Suggestion[]> {
  const effects = effectsOf(decider(config, seed), corpus);
  const alike = candidatesOf(config, parts)
    .filter((candidate) => {
      const other = effectsOf(decider(candidate.config, seed), corpus);
      return other.every((effect, at) => effect === effects[at]);
    })
    .slice(0, MAX_CANDIDATES);
  const suggestions: Suggestion[] = [];
  for (const candidate of alike) {
    const [now, changed] = await measure(
      [config, candidate.config].map((each) => () => decider(each, seed).subject(corpus, 'decision')),
      { ...options, cycles: [corpus.length, corpus.length], extras: false },
    );
    const comparison = comparePairs(now!.samples, changed!.samples);
    const { message, pointer } = candidate;
    if (comparison.verdict === 'faster') suggestions.push({ message, pointer, comparison });
  }
  return suggestions.toSorted((one, other) => one.comparison.ratio.value - other.comparison.ratio.value);
}

function effectsOf({ effect }: Decider, corpus: readonly BenchRequest[]): readonly string[] {
  return corpus.map(effect);
}

function candidatesOf(config: EdgeConfig, parts: readonly PartCost[]): Candidate[] {
  return Object.entries(config.edges.https).flatMap(([edge, { routes }]) =>
    routes.flatMap((route, index) => {
      const policy = route.traffic_policy;
      if (policy === undefined || !policy.enabled) return [];
      const pointer = `${pointerTo(`${pointerTo('/edges/https', edge)}/routes`, index)}/traffic_policy`;
      const raw = rawPolicy(policy.value);
      const changedTo = (changes: object): EdgeConfig => {
        const value = JSON.stringify({ ...raw, ...changes });
        return withRoute(config, edge, index, {
          ...route,
          traffic_policy: { ...policy, value },
        });
      };
      return [...new Set(rulesOf(policy.value).map(({ phase }) => phase))].flatMap((phase) =>
        ordersOf(raw[phase] as readonly PolicyRule[], `${pointer}/value/${phase}`, parts).map(
          ({ message, rules }) => ({
            message: `${phase}: ${message}`,
            pointer,
            config: changedTo({ [phase]: rules }),
          }),
        ),
      );
    }),
  );
}

interface Order {
  readonly message: string;
  readonly rules: readonly PolicyRule[];
}

/** Other orders of the rules of a phase, and of the conditions inside each rule. */
function ordersOf(rules: readonly PolicyRule[], pointer: string, parts: readonly PartCost[]): Order[] {
  const orders: Order[] = [];
  const cheapestFirst = rules.map(withCheapConditionsFirst);
  const changed = cheapestFirst.filter((rule, at) => rule !== rules[at]);
  if (changed.length > 0) {
    const names = changed.map((rule) => nameOf(rule, cheapestFirst.indexOf(rule)));
    orders.push({
      message: `evaluate the cheap conditions first in ${names.join(', ')}`,
      rules: cheapestFirst,
    });
  }
  const byCost = rules
    .map((rule, at) => {
      const part = parts.find((each) => each.pointer === pointerTo(pointer, at));
      return { rule, at, ns: part?.ns ?? 0, reached: part?.reached ?? 0 };
    })
    .toSorted((one, other) => one.ns - other.ns);
  // A rule that ends requests may save more than it costs; its own cost is then 0.
  const costs = byCost.filter(({ reached }) => reached > 0);
  if (costs.length > 1) {
    orders.push({ message: 'sort the rules by cost', rules: byCost.map(({ rule }) => rule) });
    const dearest = costs.at(-1)!;
    const last = [...rules.filter((rule) => rule !== dearest.rule), dearest.rule];
    orders.push({
      message: `put ${nameOf(dearest.rule, dearest.at)}, the most expensive rule, last`,
      rules: last,
    });
    // A rule that ends requests saves the cost of the rules after it.
    for (const { rule, at } of byCost.slice(0, 3)) {
      if (at === 0) continue;
      const first = [rule, ...rules.filter((each) => each !== rule)];
      orders.push({ message: `put ${nameOf(rule, at)} first`, rules: first });
    }
  }
  return orders;
}

function withCheapConditionsFirst(rule: PolicyRule): PolicyRule {
  const { expressions } = rule;
  if (expressions === undefined || expressions.length < 2) return rule;
  const sorted = expressions.toSorted(
    (one, other) => estimateOfExpression(one) - estimateOfExpression(other),
  );
  return sorted.every((each, at) => each === expressions[at]) ? rule : { ...rule, expressions: sorted };
}

function nameOf({ name }: PolicyRule, at: number): string {
  return name === undefined ? `rule ${at + 1}` : `'${name}'`;
}
