import type { PatternProblem } from '../../regex/pattern.ts';
import { type IndexedProblem, compilePatternSet, isPatternSet } from '../../regex/pattern_set.ts';

/** Patterns (RE2 syntax, unanchored) that let a user agent through or block it. */
export interface UserAgentLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** `index` is the position in its list of the first pattern that matched; -1 with `none`. */
export interface UserAgentVerdict {
  readonly allowed: boolean;
  readonly list: 'allow' | 'deny' | 'none';
  readonly index: number;
  /** The value is too long to be searched for these patterns, and so not let through. */
  readonly isTooLong?: true;
}

export interface UserAgentRules {
  /**
   * Decides on the first `User-Agent` value, undefined when there is none. A match of `allow` lets it through,
   * else a match of `deny` blocks it, else it passes; an absent or empty value is blocked unless a pattern of
   * `allow` matches the empty string. A value that would take too many steps is blocked unseen. The verdicts are
   * made once and shared.
   */
  decide(value: string | undefined): UserAgentVerdict;
}

/** What is wrong with a pattern; index -1 is the two lists as a whole. */
export interface UserAgentProblem extends PatternProblem {
  readonly list: 'allow' | 'deny';
  readonly index: number;
}

/** Compiles both lists into one automaton, or says all that is wrong with them. */
export function compileUserAgents(lists: UserAgentLists): UserAgentRules | readonly UserAgentProblem[] {
  const { allow, deny } = lists;
  // Allow patterns come first, so that the lowest position that matches is the deciding one.
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

/** Narrows the answer of `compileUserAgents`. */
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

/** Verdicts kept at most; half of them stay when the store turns over. */
export const KEPT_VERDICTS = 4_096;
/** A longer value is decided anew each time: it is rare, and would make the store large. */
export const KEPT_VALUE_UNITS = 1_024;

/**
 * Remembers verdicts in two generations: a full young one becomes the old one, whose members come back when they are
 * asked for again. A stream of values never seen twice costs one look-up and one insertion each, and no more memory.
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
