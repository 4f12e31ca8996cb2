import { re2 } from './re2.ts';

/** The instructions that the engine of patterns executes; the numbers are re2js's. */
export const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  anyRune: 10,
  anyRuneButNewline: 11,
} as const;

/** Conditions of an empty-width instruction, as bits. */
export const EMPTY = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

/** One instruction. `runes` are ranges, both ends inclusive, or a single code point. */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  readonly matchRune: (codePoint: number) => boolean;
}

/** A compiled program: the very one that `test` of the pattern executes. */
export interface PatternProgram {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

interface Inside {
  readonly re2Input?: {
    readonly prog?: { readonly inst: readonly Instruction[]; readonly start: number };
    readonly dfa?: LibraryAutomaton;
  };
}

/** The automaton of the library, which makes states while it runs; `step` gives null when they take too much memory. */
export interface LibraryAutomaton {
  /** Whether it cannot run the program. */
  readonly failed: boolean;
  readonly classBounds: ArrayLike<number>;
  readonly numClasses: number;
  runeClass(codePoint: number): number;
  start(input: { readonly context: () => number }, at: number): LibraryState | null;
  step(from: AutomatonState, kind: number, codePoint: number, anchor: 0): LibraryState | null;
}

export interface LibraryState extends AutomatonState {
  /** Ascending numbers of the patterns that match, if it is one of a set. */
  readonly matchIDs: readonly number[];
}

export interface AutomatonState {
  /** Whether the pattern occurs before the last character, or before the end of the text. */
  readonly isMatch: boolean;
}

/** The automaton that searches a text for a pattern: the library's own, which it makes while it runs. */
export interface PatternAutomaton {
  /** Code points at which a new range begins; all code points of a range have the same transitions. */
  readonly bounds: readonly number[];
  readonly start: AutomatonState;
  /** The state after a character, or at the end of the text. Throws if there are too many. */
  readonly next: (from: AutomatonState, codePoint: number | 'end') => AutomatonState;
}

/** The program of a pattern that `compilePattern` accepts; null if the library does not show it. */
export function programOf(source: string): PatternProgram | null {
  const prog = insideOf(source)?.prog;
  return prog === undefined ? null : { instructions: prog.inst, start: prog.start };
}

/** The state at the beginning of a text; null if it takes too much memory. */
export const startOf = (dfa: LibraryAutomaton): LibraryState | null => dfa.start(BEGINNING, 0);
const BEGINNING = { context: () => EMPTY.beginText | EMPTY.beginLine };

/** The automaton of a compiled set of patterns; null if the library does not show it, or has none. */
export function automatonOfSet(set: object): LibraryAutomaton | null {
  const { dfa } = set as { readonly dfa?: LibraryAutomaton | null };
  return dfa === undefined || dfa === null || dfa.failed ? null : dfa;
}

/** The automaton of a compiled pattern; null if the library does not show it, or has none. */
export function automatonOfPattern(compiled: object): LibraryAutomaton | null {
  return automatonOfSet((compiled as { readonly re2Input?: object }).re2Input ?? {});
}

/** The automaton of such a pattern; null if the library does not show it, or has none. */
export function automatonOf(source: string): PatternAutomaton | null {
  const dfa = insideOf(source)?.dfa;
  const start = dfa === undefined ? null : startOf(dfa);
  if (dfa === undefined || start === null || dfa.failed) return null;
  const next: PatternAutomaton['next'] = (from, point) => {
    const state =
      point === 'end'
        ? dfa.step(from, dfa.numClasses, -1, 0)
        : dfa.step(from, dfa.runeClass(point), point, 0);
    if (state === null) throw new Error(`the automaton of '${source}' has too many states`);
    return state;
  };
  return { bounds: Array.from(dfa.classBounds), start, next };
}

function insideOf(source: string): Inside['re2Input'] {
  return (re2().RE2JS.compile(source) as unknown as Inside).re2Input;
}
