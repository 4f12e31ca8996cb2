import { RE2JS } from 're2js';

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

interface LibraryAutomaton {
  /** Whether it cannot run the program. */
  readonly failed: boolean;
  readonly classBounds: ArrayLike<number>;
  readonly numClasses: number;
  readonly runeClass: (codePoint: number) => number;
  readonly start: (input: { readonly context: () => number }, at: number) => AutomatonState | null;
  readonly step: (from: AutomatonState, kind: number, codePoint: number, anchor: 0) => AutomatonState | null;
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

/** The automaton of such a pattern; null if the library does not show it, or has none. */
export function automatonOf(source: string): PatternAutomaton | null {
  const dfa = insideOf(source)?.dfa;
  const start = dfa?.start({ context: () => EMPTY.beginText | EMPTY.beginLine }, 0) ?? null;
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
  return (RE2JS.compile(source) as unknown as Inside).re2Input;
}
