import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { ExpectedValue, MatcherConfig, Scalar } from '../document/schema.ts';

/** The compared value: one value, the values of a field, or nothing. */
type Received = unknown;

/** A compiled expectation of one value. */
export interface ValueCheck {
  readonly holds: (received: Received) => boolean;
  /** In words: `'a'`, `a string with 'x'`. */
  readonly message: string;
}

/** Why an expectation is invalid; `key` is the condition at fault. */
export interface ValueProblem {
  readonly problem: string;
  readonly key?: string;
}

/** The string for a value that must be absent. */
const ABSENT = 'absent';

/** Compiles the expectation of a value; a problem is a sentence. */
export function compileValue(expected: ExpectedValue): ValueCheck | ValueProblem {
  if (Array.isArray(expected)) return listCheck(expected);
  if (typeof expected === 'object') return matcherCheck(expected);
  if (expected === ABSENT) return { holds: isAbsent, message: 'absent' };
  return { holds: (received) => equal(received, expected), message: shownValue(expected) };
}

function isAbsent(received: Received): boolean {
  return received === undefined || (Array.isArray(received) && received.length === 0);
}

/** A field with several values is compared as a whole, joined as in RFC 9110 §5.3. */
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
  const message = `[${expected.map((each) => shownValue(each)).join(', ')}]`;
  return {
    message: expected.length === 1 ? message : message,
    holds: (received) =>
      Array.isArray(received)
        ? received.length === expected.length && received.every((each, at) => equal(each, expected[at]!))
        : expected.some((each) => equal(received, each)),
  };
}

type Condition = readonly [message: string, holds: (received: Received) => boolean];

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
  return clashOf(config, holds) ?? { message: conditions.map(([message]) => message).join(' and '), holds };
}

/** Conditions that exclude each other: a case with them could only fail. */
function clashOf(
  { equals, one_of: allowed, at_least: least, at_most: most, absent, not, ...others }: MatcherConfig,
  holds: (received: Received) => boolean,
): ValueProblem | null {
  const isPresent =
    equals !== undefined || allowed !== undefined || least !== undefined || most !== undefined;
  if (absent === true && (isPresent || POSITIVE.some((key) => others[key] !== undefined)))
    return { problem: 'an absent value has no other conditions', key: 'absent' };
  if (least !== undefined && most !== undefined && least > most)
    return { problem: `no number is at least ${least} and at most ${most}`, key: 'at_most' };
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
      return [`a string with ${shownValue(given)}`, onText((text) => text.includes(given as string))];
    case 'not_contains':
      return [
        `no string with ${shownValue(given)}`,
        (received) => textOf(received)?.includes(given as string) !== true,
      ];
    case 'starts_with':
      return [
        `a string that starts with ${shownValue(given)}`,
        onText((text) => text.startsWith(given as string)),
      ];
    case 'ends_with':
      return [
        `a string that ends with ${shownValue(given)}`,
        onText((text) => text.endsWith(given as string)),
      ];
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
  if (isPatternProblem(pattern)) return { problem: pattern.message };
  if (name === 'matches') return [`a string that matches /${source}/`, onText((text) => pattern.test(text))];
  return [
    `no string that matches /${source}/`,
    (received) => {
      const text = textOf(received);
      return text === undefined || !pattern.test(text);
    },
  ];
}

const SHOWN_LIMIT = 200;

/** A value for a sentence. */
export function shownValue(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'absent';
  if (Array.isArray(value) && value.length === 1) return shownValue(value[0]);
  const text = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return text.length > SHOWN_LIMIT ? `${text.slice(0, SHOWN_LIMIT)}… (${text.length} characters)` : text;
}

/** Whether data contains the expected data: maps may have more keys; lists must have the same length. */
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
