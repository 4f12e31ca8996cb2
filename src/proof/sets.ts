import { type AutomatonState, automatonOf } from '../regex/program.ts';
import type { Table } from './certificate.ts';

/** A set of the values of a field, as an automaton over code points; states are numbers, the first is 0. */
export interface Machine {
  /** Identifies it in this process. */
  readonly id: number;
  /** Where ranges of code points begin that have the same transitions. */
  readonly cuts: readonly number[];
  readonly step: (state: number, point: number) => number;
  readonly accepts: (state: number) => boolean;
}
/** A set, or its complement. */
export type Constraint = { readonly machine: Machine; readonly value: boolean };

/** Beyond all characters: the absent field, and the border between two values of a field. */
const [ABSENT, BORDER] = [0x110000, 0x110001];
/** States that are never left: everything is accepted, or nothing. */
const [ALL, NONE] = [-1, -2];
const STATE_LIMIT = 20_000;
let made = 0;

function memoized<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new Map<Key, Made>();
  return (key) => (known.has(key) ? known : known.set(key, make(key))).get(key)!;
}

export function tableMachine({ starts, next, accepts }: Table): Machine {
  const isRising = starts.every((start, at) => (at === 0 ? start === 0 : start > starts[at - 1]!));
  const isWhole = next.length === accepts.length * starts.length && next.every((to) => to in accepts);
  if (!isRising || !isWhole || starts.length === 0) throw new Error('a table is not an automaton');
  const rangeOf = memoized((point: number) => starts.findLastIndex((start) => start <= point));
  const step = (state: number, point: number): number => next[state * starts.length + rangeOf(point)]!;
  return { id: made++, cuts: starts, step, accepts: (state) => accepts[state] === 1 };
}

/** The texts in which a pattern occurs, by the automaton of the engine. */
export const patternMachine = memoized((source: string): Machine => {
  const { bounds, start, next } = automatonOf(source)!;
  const states = [start];
  const numberOf = memoized((state: AutomatonState) => (state === start ? 0 : states.push(state) - 1));
  return {
    id: made++,
    cuts: bounds,
    step: (state, point) => {
      if (state < 0) return state;
      // The library keeps the step of the first code point of a class for all of the class, so it is asked about code
      // points only. No text has others.
      if (point >= ABSENT) return NONE;
      const after = next(states[state]!, point);
      return after.isMatch ? ALL : numberOf(after);
    },
    accepts: (state) => (state < 0 ? state === ALL : next(states[state]!, 'end').isMatch),
  };
});

/** The fields whose first value, or any of them, has a pattern; `absent` says whether the absent field is one, too. */
export function valuesMachine(source: string, which: 'first' | 'any', absent: boolean): Machine {
  return valuesKnown(JSON.stringify([source, which, absent]));
}
const valuesKnown = memoized((key: string): Machine => {
  const [source, which, absent] = JSON.parse(key) as Parameters<typeof valuesMachine>;
  const { cuts, step, accepts } = patternMachine(source);
  const ended = (state: number, point: number): number => {
    if (point === ABSENT ? absent : accepts(state)) return ALL;
    return point === BORDER && which === 'any' ? 0 : NONE;
  };
  return {
    id: made++,
    cuts,
    step: (state, point) => (state < 0 || point < ABSENT ? step(state, point) : ended(state, point)),
    accepts,
  };
});
/** A pattern of no text. */
export const NOTHING = String.raw`[^\x00-\x{10ffff}]`;
/** The absent field. */
export const NO_VALUE = valuesMachine(NOTHING, 'first', true);

/** Whether a list of values is in a set; without any, the field is absent. */
export function has({ step, accepts }: Machine, values: readonly string[]): boolean {
  const points = values.flatMap((value) => [BORDER, ...Array.from(value, (each) => each.codePointAt(0)!)]);
  return accepts((points.length === 0 ? [ABSENT] : points.slice(1)).reduce(step, 0));
}

/** Whether no field meets all constraints. Throws if the search takes too many states. */
export const isEmpty = (constraints: readonly Constraint[]): boolean => {
  const meet = (states: readonly number[]): boolean =>
    constraints.every(({ machine, value }, at) => machine.accepts(states[at]!) === value);
  const after = (states: readonly number[], point: number): number[] =>
    constraints.map(({ machine }, at) => machine.step(states[at]!, point));
  /** Whether nothing that begins so meets all of them. */
  const isLost = (states: readonly number[]): boolean =>
    constraints.some(({ value }, at) => states[at] === (value ? NONE : ALL));
  const queue: (readonly number[])[] = [constraints.map(() => 0)];
  if (meet(after(queue[0]!, ABSENT))) return false;
  const points = new Set([0, BORDER, ...constraints.flatMap(({ machine }) => machine.cuts)]);
  points.delete(ABSENT);
  const seen = new Set([queue[0]!.join()]);
  for (const states of queue) {
    if (meet(states)) return false;
    for (const point of points) {
      const next = after(states, point);
      const key = next.join();
      if (isLost(next) || seen.has(key)) continue;
      seen.add(key);
      if (queue.push(next) > STATE_LIMIT) throw new Error('a set of values is too large to be searched');
    }
  }
  return true;
};
