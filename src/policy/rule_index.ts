import type { Variable } from '../cel/scope.ts';
import { type Steps, eachInSteps } from '../config_file/steps.ts';
import { isTextual } from '../cel/types.ts';
import type { Activation } from './env/activation.ts';
import type { RequiredFact } from './rule_facts.ts';

/** Finds the rules that may apply to an exchange, in order, without evaluating the others. */
export interface RuleIndex {
  /** Lists of rule numbers, each ascending. */
  readonly find: (activation: Activation) => readonly Int32Array[];
}

/** A position in such lists. */
export interface Candidates {
  readonly lists: readonly Int32Array[];
  readonly at: number[];
}

export function candidatesOf(lists: readonly Int32Array[]): Candidates {
  return { lists, at: lists.map(() => 0) };
}

/** The first candidate that is at least `least`; `end` if there is none. Calls must have ascending numbers. */
export function nextCandidate({ lists, at }: Candidates, least: number, end: number): number {
  let next = end;
  for (let index = 0; index < lists.length; index++) {
    const list = lists[index]!;
    let position = at[index]!;
    while (position < list.length && list[position]! < least) position++;
    at[index] = position;
    if (position < list.length && list[position]! < next) next = list[position]!;
  }
  return next;
}

/** Fewer rules than this are faster to evaluate than to look up. */
const MIN_RULES = 8;
/** Minimum number of rules for which a variable is looked up. */
const MIN_SHARE = 4;

/**
 * Indexes rules by required facts. Each rule is filed under its most selective variable; rules without facts
 * are always candidates. Null if an index would not help.
 */
export function* indexRules(factsOfRules: readonly (readonly RequiredFact[])[]): Steps<RuleIndex | null> {
  if (factsOfRules.length < MIN_RULES) return null;
  const filed = yield* fileRules(factsOfRules);
  if (filed.size === 0) return null;
  const always: number[] = [];
  const isFiled = new Uint8Array(factsOfRules.length);
  for (const entries of filed.values()) for (const { rule } of entries) isFiled[rule] = 1;
  for (let rule = 0; rule < factsOfRules.length; rule++) if (isFiled[rule] === 0) always.push(rule);
  const rest = always.length === 0 ? [] : [Int32Array.from(always)];
  const finders: Find[] = [];
  for (const [variable, entries] of filed)
    finders.push(yield* finder(variable, entries, finders.length === 0 ? rest : []));
  const [only] = finders;
  if (finders.length === 1) return { find: (activation) => only!(activation) };
  return { find: (activation) => finders.flatMap((find) => find(activation)) };
}

interface Entry {
  readonly rule: number;
  readonly fact: RequiredFact;
}

/** Keys that two facts share if they have a common value or prefix. */
function keysOf({ variable, values, prefixes }: RequiredFact): readonly string[] {
  return [
    ...values.map((value) => `${variable.name}=${value}`),
    ...prefixes.map((prefix) => `${variable.name}^${prefix}`),
  ];
}

/** Files each rule under its most selective fact: the one that the fewest rules share. */
function* fileRules(
  factsOfRules: readonly (readonly RequiredFact[])[],
): Steps<Map<Variable<Activation>, Entry[]>> {
  const shared = new Map<string, number>();
  // Without a choice nothing is weighed.
  const isChoice = factsOfRules.some((facts) => facts.length > 1);
  yield* eachInSteps(isChoice ? factsOfRules : [], (facts) => {
    for (const fact of facts) for (const key of keysOf(fact)) shared.set(key, (shared.get(key) ?? 0) + 1);
  });
  const weight = (fact: RequiredFact) => keysOf(fact).reduce((sum, key) => sum + shared.get(key)!, 0);
  const filed = new Map<Variable<Activation>, Entry[]>();
  yield* eachInSteps(factsOfRules.entries(), ([rule, facts]) => {
    const best = facts.length > 1 ? facts.toSorted((one, other) => weight(one) - weight(other))[0] : facts[0];
    if (best === undefined) return;
    const entries = filed.get(best.variable);
    if (entries === undefined) filed.set(best.variable, [{ rule, fact: best }]);
    else entries.push({ rule, fact: best });
  });
  for (const [variable, entries] of filed) if (entries.length < MIN_SHARE) filed.delete(variable);
  return filed;
}

type Find = (activation: Activation) => readonly Int32Array[];

/** Looks up one variable: exact values in a map, prefixes in a sorted list. `always` is part of every result. */
function* finder(
  variable: Variable<Activation>,
  entries: readonly Entry[],
  always: readonly Int32Array[],
): Steps<Find> {
  const read = isTextual(variable.type) ? (variable.readText ?? variable.read) : variable.read;
  const exact = new Map<string | number, number[]>();
  const prefixed = new Map<string, number[]>();
  yield* eachInSteps(entries, ({ rule, fact }) => {
    for (const value of fact.values) add(exact, value, rule);
    for (const prefix of fact.prefixes) add(prefixed, prefix, rule);
  });
  const prefixesOf = yield* prefixTable(prefixed, always);
  const lists = new Map<string | number, readonly Int32Array[]>();
  yield* eachInSteps(exact, ([value, rules]) =>
    lists.set(value, [Int32Array.from(rules), ...prefixesOf(value)]),
  );
  return (activation) => {
    const value = read(activation) as string | number;
    return lists.get(value) ?? prefixesOf(value);
  };
}

/** Adds a rule to the list of a key; rules come in order, and one may name a key twice. */
function add<K>(lists: Map<K, number[]>, key: K, rule: number): void {
  const rules = lists.get(key);
  if (rules === undefined) lists.set(key, [rule]);
  else if (rules.at(-1) !== rule) rules.push(rule);
}

function sortedList(rules: readonly number[]): Int32Array {
  return Int32Array.from(new Set(rules)).sort();
}

/**
 * Prefixes in sorted order, each with the rules of all its own prefixes. The longest prefix of a text is the
 * last entry that does not sort after the text, or a prefix of that entry.
 */
function* prefixTable(
  prefixed: ReadonlyMap<string, readonly number[]>,
  always: readonly Int32Array[],
): Steps<(value: string | number) => readonly Int32Array[]> {
  const sorted = Array.from(prefixed.keys()).sort();
  if (sorted.length === 0) return () => always;
  const parents: number[] = [];
  const rules: (readonly number[])[] = [];
  const lists: (readonly Int32Array[])[] = [];
  yield* eachInSteps(sorted.entries(), ([at, prefix]) => {
    let parent = at - 1;
    while (parent >= 0 && !prefix.startsWith(sorted[parent]!)) parent = parents[parent]!;
    parents.push(parent);
    const own = [...(rules[parent] ?? []), ...prefixed.get(prefix)!];
    rules.push(own);
    lists.push([sortedList(own), ...always]);
  });
  return (value) => {
    const text = value as string;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! <= text) low = middle + 1;
      else high = middle;
    }
    let at = low - 1;
    while (at >= 0 && !text.startsWith(sorted[at]!)) at = parents[at]!;
    return lists[at] ?? always;
  };
}
