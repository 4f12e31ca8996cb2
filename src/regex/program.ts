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
  readonly re2Input?: { readonly prog?: { readonly inst: readonly Instruction[]; readonly start: number } };
}

/** The program of a pattern that `compilePattern` accepts; null if the library does not show it. */
export function programOf(source: string): PatternProgram | null {
  const prog = (RE2JS.compile(source) as unknown as Inside).re2Input?.prog;
  return prog === undefined ? null : { instructions: prog.inst, start: prog.start };
}
