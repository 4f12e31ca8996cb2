import { re2 } from './re2.ts';

import { FlatAutomaton } from './flat_automaton.ts';
import { compilePattern, isPatternProblem } from './pattern.ts';
import { automatonOfSet } from './program.ts';
import type { PatternProblem } from './refusals.ts';

/** Maximum size of the program of a whole set, in instructions; a search takes that many steps a character at worst. */
export const SET_LIMIT_INSTRUCTIONS = 10_000;
/** Maximum number of steps, instructions times characters, of one search: about a tenth of a second. */
const SET_LIMIT_STEPS = 4_000_000;
/** Memory limit of the set's automaton in bytes; at the limit the engine resets it. */
const AUTOMATON_LIMIT_BYTES = 8 * 2 ** 20;
/** Half a megabyte. */
const TABLE_ENTRIES = 131_072;

/** Patterns that are searched for together in one pass over the subject. */
export interface PatternSet {
  readonly sources: readonly string[];
  /** Maximum length of a subject in UTF-16 units. */
  readonly limitUnits: number;
  /** The lowest index of a pattern that occurs anywhere in the subject, or -1. */
  first(subject: string): number;
}

/** The problem of the pattern at `index` of the list; -1 is the list as a whole. */
export interface IndexedProblem extends PatternProblem {
  readonly index: number;
}

/** Compiles a list of patterns into one automaton, or returns the problems of all patterns. Never throws. */
export function compilePatternSet(sources: readonly string[]): PatternSet | readonly IndexedProblem[] {
  const problems: IndexedProblem[] = [];
  let instructions = 0;
  for (const [index, source] of sources.entries()) {
    const pattern = compilePattern(source);
    if (isPatternProblem(pattern)) problems.push({ ...pattern, index });
    else instructions += pattern.programInstructions;
  }
  if (instructions > SET_LIMIT_INSTRUCTIONS) {
    const message = `the patterns compile to ${instructions} instructions together; the limit is ${SET_LIMIT_INSTRUCTIONS}, because matching takes that many steps a character at worst`;
    problems.push({ reason: 'too_large', message, index: -1 });
  }
  if (problems.length > 0) return problems;
  if (sources.length === 0) return { sources, limitUnits: Infinity, first: () => -1 };
  return { sources, limitUnits: Math.floor(SET_LIMIT_STEPS / instructions), first: firstOf(sources) };
}

/** Narrows the result of `compilePatternSet`. */
export function isPatternSet(answer: PatternSet | readonly IndexedProblem[]): answer is PatternSet {
  return !Array.isArray(answer);
}

function firstOf(sources: readonly string[]): (subject: string) => number {
  const { RE2Set } = re2();
  const set = new RE2Set(RE2Set.UNANCHORED, 0, AUTOMATON_LIMIT_BYTES);
  for (const source of sources) set.add(source);
  set.compile();
  const automaton = automatonOfSet(set);
  const flat = automaton === null ? null : new FlatAutomaton(automaton, TABLE_ENTRIES);
  return (subject) => flat?.first(subject) ?? set.match(subject)[0] ?? -1;
}
