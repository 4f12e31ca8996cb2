import type { PatternProblem } from '../../regex/pattern.ts';
import { type IndexedProblem, compilePatternSet, isPatternSet } from '../../regex/pattern_set.ts';

/** Unanchored RE2 patterns that allow or block user agents. */
export interface UserAgentLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** `index` is the position of the first matching pattern in its list; -1 for `none`. */
export interface UserAgentVerdict {
  readonly allowed: boolean;
  readonly list: 'allow' | 'deny' | 'none';
  readonly index: number;
  /** The value is too long to be searched for these patterns, so it is blocked. */
  readonly isTooLong?: true;
}

export interface UserAgentRules {
  /**
   * Decides on the first `User-Agent` value (undefined if absent). A match of `allow` passes, otherwise a
   * match of `deny` blocks, otherwise the request passes. An absent or empty value is blocked unless an
   * `allow` pattern matches the empty string. A value that would take too many steps is blocked without a
   * search. Verdicts are shared objects.
   */
  decide(value: string | undefined): UserAgentVerdict;
}

/** A problem of a pattern; index -1 refers to both lists together. */
export interface UserAgentProblem extends PatternProblem {
  readonly list: 'allow' | 'deny';
  readonly index: number;
}

/** Compiles both lists into one automaton, or returns all their problems. */
export function compileUserAgents(lists: UserAgentLists): UserAgentRules | readonly UserAgentProblem[] {
  const { allow, deny } = lists;
  // Allow patterns come first, so that the lowest matching index decides.
  const set = compilePatternSet([...allow, ...deny]);
  if (!isPatternSet(set)) return set.map((problem) => inLists(problem, allow.length));
  const verdicts: UserAgentVerdict[] = [
    ...allow.map((_, index): UserAgentVerdict => ({ allowed: true, list: 'allow', index })),
    ...deny.map((_, index): UserAgentVerdict => ({ allowed: false, list: 'deny', index })),
  ];
  const absent = verdictOnAbsent(set.first(''), allow.length, verdicts);
  const decided = recentVerdicts((value) => verdicts[set.first(value)] ?? UNMATCHED);
  return {
    decide: (value) => {
      if (value === undefined || value === '') return absent;
      return value.length > set.limitUnits ? TOO_LONG : decided(value);
    },
  };
}

/** Narrows the result of `compileUserAgents`. */
export function isUserAgentRules(
  answer: UserAgentRules | readonly UserAgentProblem[],
): answer is UserAgentRules {
  return !Array.isArray(answer);
}

const UNMATCHED: UserAgentVerdict = { allowed: true, list: 'none', index: -1 };
const TOO_LONG: UserAgentVerdict = { allowed: false, list: 'none', index: -1, isTooLong: true };
const ABSENT: UserAgentVerdict = { allowed: false, list: 'none', index: -1 };

function verdictOnAbsent(
  first: number,
  allowCount: number,
  verdicts: readonly UserAgentVerdict[],
): UserAgentVerdict {
  return first >= 0 && first < allowCount ? verdicts[first]! : ABSENT;
}

function inLists(problem: IndexedProblem, allowCount: number): UserAgentProblem {
  const isAllow = problem.index < allowCount;
  return {
    ...problem,
    list: isAllow ? 'allow' : 'deny',
    index: isAllow ? problem.index : problem.index - allowCount,
  };
}

/** Maximum number of cached verdicts; half of them survive when a new generation starts. */
export const KEPT_VERDICTS = 4_096;
/** Longer values are not cached: they are rare and large. */
export const KEPT_VALUE_UNITS = 1_024;

/**
 * Caches verdicts in two generations: when the young one is full, it becomes the old one, and entries return
 * to the young one when they are used. A stream of unique values costs one look-up and one insertion each,
 * and bounded memory.
 */
function recentVerdicts(decide: (value: string) => UserAgentVerdict): (value: string) => UserAgentVerdict {
  let young = new Map<string, UserAgentVerdict>();
  let old = young;
  return (value) => {
    const recent = young.get(value);
    if (recent !== undefined) return recent;
    const verdict = old.get(value) ?? decide(value);
    if (value.length > KEPT_VALUE_UNITS) return verdict;
    if (young.size >= KEPT_VERDICTS / 2) {
      old = young;
      young = new Map();
    }
    young.set(value, verdict);
    return verdict;
  };
}
