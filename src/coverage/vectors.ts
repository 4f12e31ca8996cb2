import type { Evaluate } from '../cel/function_table.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { DecisionShape } from './decisions.ts';

/**
 * The distinct evaluations of a decision: for each condition whether it was true (`1`), false (`0`) or skipped
 * by a short circuit (`-`), then `=` and the outcome. Plain data.
 */
export interface DecisionRecord {
  readonly vectors: Record<string, true>;
  /** Base-3 digits of the current evaluation, from the first condition on; only while evaluating. */
  readonly current: Current;
}

interface Current {
  digits: number;
  broken: boolean;
  /** Too many conditions: no vectors are recorded. */
  readonly isWide: boolean;
  readonly powers: readonly number[];
  readonly seen: Set<number>;
}

/** Maximum number of base-3 digits in a double. Decisions with more conditions have outcomes, but no MC/DC. */
export const CONDITION_LIMIT = 32;
/** Maximum number of distinct vectors kept per decision. */
const VECTOR_LIMIT = 2_000;

export function decisionRecord({ conditions }: DecisionShape): DecisionRecord {
  const powers = conditions.slice(0, CONDITION_LIMIT).map((_condition, index) => 3 ** index);
  const isWide = conditions.length > CONDITION_LIMIT;
  return { vectors: {}, current: { digits: 0, broken: false, isWide, powers, seen: new Set() } };
}

/** A condition that records its digit in the vector: 1 for false, 2 for true. */
export function conditionWatch(
  { current }: DecisionRecord,
  at: number,
  run: Evaluate<Activation>,
): Evaluate<Activation> {
  const power = current.powers[at];
  if (power === undefined) return run;
  return (activation) => {
    const outcome = run(activation);
    if (outcome === true) current.digits += 2 * power;
    else if (outcome === false) current.digits += power;
    else current.broken = true;
    return outcome;
  };
}

/** The whole decision: starts a vector and keeps it. An evaluation with an error is ignored. */
export function decisionWatch(
  record: DecisionRecord,
  run: Evaluate<Activation>,
  isNew: () => void,
): Evaluate<Activation> {
  const { current } = record;
  if (current.isWide) return run;
  return (activation) => {
    current.digits = 0;
    current.broken = false;
    const outcome = run(activation);
    if (current.broken || typeof outcome !== 'boolean') return outcome;
    const key = outcome ? current.digits : -current.digits - 1;
    if (!current.seen.has(key) && current.seen.size < VECTOR_LIMIT) {
      current.seen.add(key);
      isNew();
      record.vectors[written(current.digits, current.powers.length, outcome)] = true;
    }
    return outcome;
  };
}

const MARKS = ['-', '0', '1'] as const;

function written(digits: number, count: number, outcome: boolean): string {
  let text = '';
  let rest = digits;
  for (let index = 0; index < count; index++) {
    text += MARKS[rest % 3]!;
    rest = Math.floor(rest / 3);
  }
  return `${text}=${outcome ? 1 : 0}`;
}

/**
 * The conditions whose effect on the outcome was shown, by index: two vectors with different outcomes differ in
 * the condition, which was evaluated in both, and agree in every other condition evaluated in both. With short
 * circuits this is unique-cause MC/DC, where a skipped condition matches any value.
 */
export function shownConditions(vectors: readonly string[], count: number): boolean[] {
  const met = vectors.filter((vector) => vector.endsWith('=1'));
  const unmet = vectors.filter((vector) => vector.endsWith('=0'));
  return Array.from({ length: count }, (_condition, at) =>
    met.some((one) => one[at] !== '-' && unmet.some((other) => differOnlyAt(one, other, at, count))),
  );
}

function differOnlyAt(one: string, other: string, at: number, count: number): boolean {
  if (other[at] === '-' || one[at] === other[at]) return false;
  for (let index = 0; index < count; index++) {
    if (index === at || one[index] === '-' || other[index] === '-') continue;
    if (one[index] !== other[index]) return false;
  }
  return true;
}
