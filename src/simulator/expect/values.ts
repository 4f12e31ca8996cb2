import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { ExpectedValue, MatcherConfig, Scalar } from '../document/schema.ts';

/** What is compared: one value, the values of a field, or nothing. */
export type Received = unknown;

/** An expectation of one value, compiled. */
export interface ValueCheck {
  readonly holds: (received: Received) => boolean;
  /** In words: `'a'`, `a text with 'x'`. */
  readonly says: string;
}

/** Why a value cannot be expected; `key` is the condition at which. */
export interface ValueProblem {
  readonly problem: string;
  readonly key?: string;
}

/** The text that says that something must not be there. */
export const ABSENT = 'absent';

/** Compiles what is expected of a value; a problem is a sentence. */
export function compileValue(expected: ExpectedValue): ValueCheck | ValueProblem {
  if (Array.isArray(expected)) return listCheck(expected);
  if (typeof expected === 'object') return matcherCheck(expected);
  if (expected === ABSENT) return { holds: isAbsent, says: 'absent' };
  return { holds: (received) => equal(received, expected), says: shownValue(expected) };
}

function isAbsent(received: Received): boolean {
  return received === undefined || (Array.isArray(received) && received.length === 0);
}

/** Of a field with several values the whole counts, joined as RFC 9110 §5.3 joins it. */
function textOf(received: Received): string | undefined {
  if (isAbsent(received)) return undefined;
  if (Array.isArray(received)) return received.map(String).join(', ');
  return typeof received === 'string' ? received : JSON.stringify(received);
}

function equal(received: Received, expected: Scalar): boolean {
  if (typeof expected === 'boolean' && typeof received === 'boolean') return received === expected;
  return textOf(received) === String(expected);
}

function listCheck(expected: readonly Scalar[]): ValueCheck {
  const says = `[${expected.map((each) => shownValue(each)).join(', ')}]`;
  return {
    says: expected.length === 1 ? says : says,
    holds: (received) =>
      Array.isArray(received)
        ? received.length === expected.length && received.every((each, at) => equal(each, expected[at]!))
        : expected.some((each) => equal(received, each)),
  };
}

type Condition = readonly [says: string, holds: (received: Received) => boolean];

function onText(holds: (text: string) => boolean): (received: Received) => boolean {
  return (received) => {
    const text = textOf(received);
    return text !== undefined && holds(text);
  };
}

function onNumber(holds: (value: number) => boolean): (received: Received) => boolean {
  return onText((text) => text.trim() !== '' && holds(Number(text)));
}

function matcherCheck(config: MatcherConfig): ValueCheck | ValueProblem {
  const conditions: Condition[] = [];
  for (const name of Object.keys(config) as (keyof MatcherConfig)[]) {
    const condition = conditionOf(name, config);
    if (condition === null) continue;
    if ('problem' in condition) return { ...condition, key: name };
    conditions.push(condition);
  }
  if (conditions.length === 0) return { problem: 'there is no condition' };
  const holds = (received: Received): boolean => conditions.every(([, each]) => each(received));
  return clashOf(config, holds) ?? { says: conditions.map(([says]) => says).join(' and '), holds };
}

/** Conditions that nothing fulfils together: a case with them could only fail. */
function clashOf(
  { equals, one_of: allowed, at_least: least, at_most: most, absent, not, ...others }: MatcherConfig,
  holds: (received: Received) => boolean,
): ValueProblem | null {
  const isPresent =
    equals !== undefined || allowed !== undefined || least !== undefined || most !== undefined;
  if (absent === true && (isPresent || POSITIVE.some((key) => others[key] !== undefined)))
    return { problem: 'what is absent has no value', key: 'absent' };
  if (least !== undefined && most !== undefined && least > most)
    return { problem: `nothing is at least ${least} and at most ${most}`, key: 'at_most' };
  const values = equals === undefined ? allowed : [equals];
  if (values === undefined || values.some((value) => holds(value))) return null;
  const which = not === undefined ? 'its other conditions' : `not ${shownValue(not)}`;
  return {
    problem: `${shownValue(values)} contradicts ${which}`,
    key: equals === undefined ? 'one_of' : 'equals',
  };
}

const POSITIVE = ['contains', 'matches', 'starts_with', 'ends_with'] as const;

function conditionOf(
  name: keyof MatcherConfig,
  config: MatcherConfig,
): Condition | { readonly problem: string } | null {
  const given = config[name];
  if (given === undefined) return null;
  switch (name) {
    case 'equals':
      return [shownValue(given), (received) => equal(received, given as Scalar)];
    case 'not':
      return [`not ${shownValue(given)}`, (received) => !equal(received, given as Scalar)];
    case 'contains':
      return [`a text with ${shownValue(given)}`, onText((text) => text.includes(given as string))];
    case 'not_contains':
      return [
        `no text with ${shownValue(given)}`,
        (received) => textOf(received)?.includes(given as string) !== true,
      ];
    case 'starts_with':
      return [
        `a text that begins with ${shownValue(given)}`,
        onText((text) => text.startsWith(given as string)),
      ];
    case 'ends_with':
      return [`a text that ends with ${shownValue(given)}`, onText((text) => text.endsWith(given as string))];
    case 'one_of':
      return [
        `one of ${(given as Scalar[]).map((each) => shownValue(each)).join(', ')}`,
        (received) => (given as Scalar[]).some((each) => equal(received, each)),
      ];
    case 'at_least':
      return [`at least ${given as number}`, onNumber((value) => value >= (given as number))];
    case 'at_most':
      return [`at most ${given as number}`, onNumber((value) => value <= (given as number))];
    case 'absent':
      return [given === true ? 'absent' : 'present', (received) => isAbsent(received) === given];
    case 'matches':
    case 'not_matches':
      return patternCondition(name, given as string);
  }
}

function patternCondition(
  name: 'matches' | 'not_matches',
  source: string,
): Condition | { readonly problem: string } {
  const pattern = compilePattern(source);
  if (isPatternProblem(pattern)) return { problem: pattern.says };
  if (name === 'matches') return [`a text that matches /${source}/`, onText((text) => pattern.test(text))];
  return [
    `no text that matches /${source}/`,
    (received) => {
      const text = textOf(received);
      return text === undefined || !pattern.test(text);
    },
  ];
}

const SHOWN_LIMIT = 200;

/** A value in a sentence. */
export function shownValue(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'absent';
  if (Array.isArray(value) && value.length === 1) return shownValue(value[0]);
  const text = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return text.length > SHOWN_LIMIT ? `${text.slice(0, SHOWN_LIMIT)}… (${text.length} characters)` : text;
}

/** Whether data holds at least what is expected: maps may have more keys; lists have to be as long. */
export function holdsSubset(received: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(received) &&
      received.length === expected.length &&
      expected.every((each, at) => holdsSubset(received[at], each))
    );
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof received !== 'object' || received === null || Array.isArray(received)) return false;
    return Object.entries(expected).every(([key, each]) =>
      each === ABSENT
        ? !Object.hasOwn(received, key)
        : Object.hasOwn(received, key) && holdsSubset((received as Record<string, unknown>)[key], each),
    );
  }
  return received === expected;
}
