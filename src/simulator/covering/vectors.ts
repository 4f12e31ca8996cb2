import type { Evaluate } from '../../expression/function_table.ts';
import type { Activation } from '../../expression/vocabulary/activation.ts';
import type { DecisionShape } from './decisions.ts';

/**
 * The distinct ways in which a decision was evaluated: for each condition whether it was true (`1`), false (`0`) or
 * not looked at because of a short circuit (`-`), then `=` and the outcome. Plain data.
 */
export interface DecisionRecord {
  readonly vectors: Record<string, true>;
  /** Digits of the evaluation under way, base 3, from the first condition on; only while evaluating. */
  readonly current: Current;
}

interface Current {
  digits: number;
  broken: boolean;
  /** More conditions than digits: no vectors. */
  readonly isWide: boolean;
  readonly powers: readonly number[];
  readonly seen: Set<number>;
}

/** More conditions than base-3 digits of a double: their decision has outcomes, but no MC/DC. */
export const CONDITION_LIMIT = 32;
/** Distinct vectors of one decision that are kept. */
const VECTOR_LIMIT = 2_000;

export function decisionRecord({ conditions }: DecisionShape): DecisionRecord {
  const powers = conditions.slice(0, CONDITION_LIMIT).map((_condition, index) => 3 ** index);
  const isWide = conditions.length > CONDITION_LIMIT;
  return { vectors: {}, current: { digits: 0, broken: false, isWide, powers, seen: new Set() } };
}

/** A condition that writes its digit into the vector: 1 for false, 2 for true. */
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

/** The whole decision: begins a vector and keeps it. An evaluation that met an error proves nothing. */
export function decisionWatch(record: DecisionRecord, run: Evaluate<Activation>): Evaluate<Activation> {
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
 * The conditions whose effect on the outcome was shown, by number: two vectors with different outcomes, in which the
 * condition was looked at and differs, and every other that was looked at in both is the same. With short circuits
 * this is unique-cause MC/DC, in which what was not looked at is like anything.
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
