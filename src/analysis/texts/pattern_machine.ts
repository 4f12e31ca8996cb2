import { ABSENT } from './automaton.ts';
import { EMPTY, type Instruction, OP, type PatternProgram } from '../../regex/program.ts';
import { type Machine } from './machine.ts';

/** What stands before a position. */
type Before = 'nothing' | 'newline' | 'word' | 'other';

interface Reading {
  /** Instructions to continue with, ascending; null after a match. */
  readonly at: readonly number[] | null;
  readonly before: Before;
}

const NEWLINE = 10;
const END = -1;

/**
 * The texts in which a pattern occurs, by its compiled program: the subset construction over its instructions. The
 * pattern may begin at each position, and the first match decides.
 */
export function patternMachine({ instructions, start }: PatternProgram): Machine<Reading> {
  const begins = [start];
  const isMatched = (at: readonly number[], flags: number): boolean =>
    closure(instructions, at, flags).some((index) => instructions[index]!.op === OP.match);
  return {
    start: { at: begins, before: 'nothing' },
    keyOf: ({ at, before }) => (at === null ? 'match' : `${before} ${at.join()}`),
    cuts: cutsOf(instructions),
    step: (reading, point) => {
      const { at, before } = reading;
      if (at === null) return reading;
      const next = new Set(begins);
      for (const index of closure(instructions, at, flagsAt(before, point))) {
        const instruction = instructions[index]!;
        if (instruction.op === OP.match) return { at: null, before };
        if (reads(instruction, point)) next.add(instruction.out);
      }
      return { at: [...next].sort((one, other) => one - other), before: kindOf(point) };
    },
    accepts: ({ at, before }) => at === null || isMatched(at, flagsAt(before, END)),
  };
}

/** Instructions that read a character, and those that match, reached without reading. */
function closure(instructions: readonly Instruction[], from: readonly number[], flags: number): number[] {
  const found: number[] = [];
  const seen = new Set<number>();
  const waiting = [...from];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const { op, out, arg } = instructions[index]!;
    switch (op) {
      case OP.alt:
      case OP.altMatch:
        waiting.push(out, arg);
        break;
      case OP.capture:
      case OP.nop:
        waiting.push(out);
        break;
      case OP.emptyWidth:
        if ((arg & ~flags) === 0) waiting.push(out);
        break;
      case OP.fail:
        break;
      case OP.match:
      case OP.rune:
      case OP.rune1:
      case OP.anyRune:
      case OP.anyRuneButNewline:
        found.push(index);
        break;
      default:
        throw new UnknownInstruction(op);
    }
  }
  return found;
}

/** The library has an instruction that this analysis does not know. */
class UnknownInstruction extends Error {
  override readonly name = 'UnknownInstruction';

  constructor(op: number) {
    super(`the instruction ${op} of a pattern is not known`);
  }
}

function reads(instruction: Instruction, point: number): boolean {
  if (point >= ABSENT) return false;
  if (instruction.op === OP.anyRune) return true;
  if (instruction.op === OP.anyRuneButNewline) return point !== NEWLINE;
  return instruction.matchRune(point);
}

/** RE2's word characters are ASCII. */
function isWord(point: number): boolean {
  return (
    (point >= 48 && point <= 57) ||
    (point >= 65 && point <= 90) ||
    point === 95 ||
    (point >= 97 && point <= 122)
  );
}

function kindOf(point: number): Before {
  if (point === NEWLINE) return 'newline';
  return isWord(point) ? 'word' : 'other';
}

/** The conditions that hold between what was read and the next character. */
function flagsAt(before: Before, next: number): number {
  let flags = 0;
  if (before === 'nothing') flags |= EMPTY.beginText | EMPTY.beginLine;
  if (before === 'newline') flags |= EMPTY.beginLine;
  if (next === END) flags |= EMPTY.endText | EMPTY.endLine;
  if (next === NEWLINE) flags |= EMPTY.endLine;
  const isBoundary = (before === 'word') !== (next !== END && isWord(next));
  return flags | (isBoundary ? EMPTY.wordBoundary : EMPTY.noWordBoundary);
}

const WORD_CUTS = [48, 58, 65, 91, 95, 96, 97, 123];

function cutsOf(instructions: readonly Instruction[]): Set<number> {
  const cuts = new Set<number>();
  for (const { op, arg, runes, matchRune } of instructions) {
    if (op === OP.emptyWidth) {
      cuts.add(NEWLINE).add(NEWLINE + 1);
      if ((arg & (EMPTY.wordBoundary | EMPTY.noWordBoundary)) !== 0)
        for (const cut of WORD_CUTS) cuts.add(cut);
    }
    if (op === OP.anyRuneButNewline) cuts.add(NEWLINE).add(NEWLINE + 1);
    if (op !== OP.rune && op !== OP.rune1) continue;
    if (runes.length === 1) {
      const test = (point: number): boolean => matchRune.call({ arg, runes }, point);
      for (const point of foldsOf(runes[0]!, test)) cuts.add(point).add(point + 1);
    }
    for (let at = 0; at + 1 < runes.length; at += 2) cuts.add(runes[at]!).add(runes[at + 1]! + 1);
  }
  return cuts;
}

/** Beyond it no letter has another case. */
const LAST_CASED = 0x1e943;

/** The code points that a single-character instruction reads: without regard to case it reads several. */
function foldsOf(rune: number, test: (point: number) => boolean): readonly number[] {
  const other = rune < 128 ? String.fromCharCode(rune) : '';
  if (rune < 128 && !/[a-z]/i.test(other)) return [rune];
  const near = rune < 128 ? [rune & ~32, rune | 32, 0x17f, 0x212a] : [rune];
  if (rune < 128) return near.filter(test);
  if (!test(rune)) return [rune];
  const found: number[] = [];
  for (let point = 0; point <= LAST_CASED; point++) if (test(point)) found.push(point);
  return found.length === 0 ? [rune] : found;
}
