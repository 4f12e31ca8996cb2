import { EMPTY, OP, type PatternProgram, programOf } from '../regex/program.ts';

/** A set of texts as an automaton over code points; states are numbers, the first is 0. */
export interface Machine {
  /** Code points at which a new range begins; all code points of a range have the same transitions. */
  readonly cuts: Iterable<number>;
  readonly step: (state: number, point: number) => number;
  readonly accepts: (state: number) => boolean;
  /** Whether the absent field is in the set. */
  readonly absent: boolean;
}
/** A set of texts, or its complement if `value` is false. */
export type Constraint = { readonly machine: Machine; readonly value: boolean };
/** An automaton as a certificate has it: the next state by `state * starts.length + range`; the last range is the absent field. */
export type Table = { readonly starts: number[]; readonly next: number[]; readonly accepts: number[] };

const [LAST, LIMIT, LAST_CASED] = [0x110000, 20_000, 0x1e943];
export const NO_TEXT: Machine = { cuts: [], step: () => 0, accepts: () => false, absent: true };

export function tableMachine({ starts, next, accepts }: Table): Machine {
  const isRising = starts.every((start, at) => (at === 0 ? start === 0 : start > starts[at - 1]!));
  const isWhole =
    next.length === accepts.length * starts.length && next.every((to) => Object.hasOwn(accepts, to));
  if (!isRising || !isWhole || starts.length === 0)
    throw new Error('a table of the certificate is not an automaton');
  const rangeOf = (point: number): number => starts.findLastIndex((start) => start <= point);
  const step = (state: number, point: number): number => next[state * starts.length + rangeOf(point)]!;
  return {
    cuts: starts,
    step,
    accepts: (state) => accepts[state] === 1,
    absent: accepts[step(0, LAST)] === 1,
  };
}

const patterns = new Map<string, Machine | null>();

/** The texts in which a pattern occurs, by the program that the engine executes; null if the pattern does not compile. */
export function patternMachine(source: string): Machine | null {
  if (!patterns.has(source)) patterns.set(source, machineOf(source));
  return patterns.get(source)!;
}

function machineOf(source: string): Machine | null {
  const program = programOf(source);
  if (program === null) return null;
  const { instructions, start } = program;
  // `before` is the kind of the previous character: a line end, a word character, another one, or none (-1).
  const states: { readonly at: readonly number[]; readonly before: number }[] = [{ at: [start], before: -1 }];
  const numbers = new Map<string, number>([[`${start} -1`, 0]]);
  const stepped: Map<number, number>[] = [];
  const step = (state: number, point: number): number => {
    if (state < 0) return state;
    const known = (stepped[state] ??= new Map());
    if (!known.has(point)) known.set(point, stepOf(state, point));
    return known.get(point)!;
  };
  const stepOf = (state: number, point: number): number => {
    const { at, before } = states[state]!;
    const next = new Set([start]);
    for (const index of reached(program, at, before, point)) {
      const { op, out, matchRune } = instructions[index]!;
      if (op === OP.match) return -1;
      const isAny = op === OP.anyRune || (op === OP.anyRuneButNewline && point !== 10);
      if (isAny || ((op === OP.rune || op === OP.rune1) && matchRune.call(instructions[index]!, point)))
        next.add(out);
    }
    const key = [...next].toSorted((one, other) => one - other);
    const kind = point === 10 ? 10 : isWord(point) ? 97 : 32;
    const name = `${key.join()} ${kind}`;
    if (!numbers.has(name)) numbers.set(name, states.push({ at: key, before: kind }) - 1);
    return numbers.get(name)!;
  };
  const isMatch = (index: number): boolean => instructions[index]!.op === OP.match;
  const accepts = (state: number): boolean =>
    state < 0 || reached(program, states[state]!.at, states[state]!.before, -1).some(isMatch);
  return { cuts: cutsOf(program), step, accepts: memoized(accepts), absent: false };
}

function memoized<Made>(make: (state: number) => Made): (state: number) => Made {
  const known = new Map<number, Made>();
  return (state) => {
    if (!known.has(state)) known.set(state, make(state));
    return known.get(state)!;
  };
}

/** The same texts, and the absent field if the empty text is one of them. */
export function orAbsent(machine: Machine | null): Machine | null {
  return machine?.accepts(0) === true ? { ...machine, absent: true } : machine;
}

function isWord(point: number): boolean {
  return point >= 0 && point < 128 && /\w/.test(String.fromCodePoint(point));
}

/** The instructions that consume a character or match, reached from others between two characters; -1 is the end. */
function reached(
  { instructions }: PatternProgram,
  from: readonly number[],
  before: number,
  next: number,
): number[] {
  let flags = isWord(before) === isWord(next) ? EMPTY.noWordBoundary : EMPTY.wordBoundary;
  if (before < 0) flags |= EMPTY.beginText;
  if (before < 0 || before === 10) flags |= EMPTY.beginLine;
  if (next < 0) flags |= EMPTY.endText;
  if (next < 0 || next === 10) flags |= EMPTY.endLine;
  const seen = new Set(from);
  for (const index of seen) {
    const { op, out, arg } = instructions[index]!;
    if (op === OP.alt || op === OP.altMatch) seen.add(out).add(arg);
    if (op === OP.capture || op === OP.nop || (op === OP.emptyWidth && (arg & ~flags) === 0)) seen.add(out);
  }
  return [...seen].filter(
    (index) => instructions[index]!.op >= OP.rune || instructions[index]!.op === OP.match,
  );
}

function cutsOf({ instructions }: PatternProgram): Set<number> {
  const cuts = new Set([10, 11, 48, 58, 65, 91, 95, 96, 97, 123]);
  for (const instruction of instructions) {
    const { op, arg, runes } = instruction;
    if (op !== OP.rune && op !== OP.rune1) continue;
    const [only] = runes.length === 1 ? [runes[0]!] : [];
    for (let at = 0; at + 1 < runes.length; at += 2) cuts.add(runes[at]!).add(runes[at + 1]! + 1);
    if (only !== undefined) cuts.add(only).add(only + 1);
    // If it ignores case, it reads several characters.
    const last = only !== undefined && arg !== 0 ? LAST_CASED : -1;
    for (let point = 0; point <= last; point++)
      if (instruction.matchRune(point)) cuts.add(point).add(point + 1);
  }
  return cuts;
}

/** Whether no text, nor the absent field, meets all constraints. Throws if the search takes too many states. */
export function isEmpty(constraints: readonly Constraint[]): boolean {
  if (constraints.every(({ machine, value }) => machine.absent === value)) return false;
  const points = new Set([0, ...constraints.flatMap(({ machine }) => [...machine.cuts])]);
  points.delete(LAST);
  const queue: (readonly number[])[] = [constraints.map(() => 0)];
  const seen = new Set([queue[0]!.join()]);
  for (const states of queue) {
    if (constraints.every(({ machine, value }, at) => machine.accepts(states[at]!) === value)) return false;
    for (const point of points) {
      const next = constraints.map(({ machine }, at) => machine.step(states[at]!, point));
      if (seen.has(next.join())) continue;
      seen.add(next.join());
      if (queue.push(next) > LIMIT) throw new Error('a set of texts is too large to be searched');
    }
  }
  return true;
}
