import { RE2Set } from 're2js';

import { compilePattern, isPatternProblem } from './pattern.ts';
import type { PatternProblem } from './refusals.ts';

/** Largest program of a whole set, in instructions. */
export const SET_LIMIT_INSTRUCTIONS = 100_000;
/** Memory that the set's automaton may take before it starts over, as the engine counts it. */
const AUTOMATON_LIMIT_BYTES = 8 * 2 ** 20;

/** Patterns that are searched for together, in one pass over the subject. */
export interface PatternSet {
  readonly sources: readonly string[];
  /** The lowest position of a pattern that occurs anywhere in the subject, or -1. */
  first(subject: string): number;
}

/** What is wrong with the pattern at `index` of the list; -1 is the list as a whole. */
export interface IndexedProblem extends PatternProblem {
  readonly index: number;
}

/** Compiles a list of patterns into one automaton; all that is wrong with any of them otherwise. Never throws. */
export function compilePatternSet(sources: readonly string[]): PatternSet | readonly IndexedProblem[] {
  const problems: IndexedProblem[] = [];
  let instructions = 0;
  for (const [index, source] of sources.entries()) {
    const pattern = compilePattern(source);
    if (isPatternProblem(pattern)) problems.push({ ...pattern, index });
    else instructions += pattern.programInstructions;
  }
  if (instructions > SET_LIMIT_INSTRUCTIONS) {
    const says = `the patterns compile to ${instructions} instructions together; at most ${SET_LIMIT_INSTRUCTIONS} are allowed`;
    problems.push({ reason: 'too_large', says, index: -1 });
  }
  if (problems.length > 0) return problems;
  if (sources.length === 0) return { sources, first: () => -1 };
  return { sources, first: firstOf(sources) };
}

/** Narrows the answer of `compilePatternSet`. */
export function isPatternSet(answer: PatternSet | readonly IndexedProblem[]): answer is PatternSet {
  return !Array.isArray(answer);
}

function firstOf(sources: readonly string[]): (subject: string) => number {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, AUTOMATON_LIMIT_BYTES);
  for (const source of sources) set.add(source);
  set.compile();
  return (subject) => set.match(subject)[0] ?? -1;
}
