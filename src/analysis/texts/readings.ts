import { ABSENT, SEPARATOR } from './automaton.ts';
import type { AnyMachine } from './machine.ts';

/**
 * A function from texts to texts that may fail, such as `trim()`. A list of texts is a text with `SEPARATOR` between
 * its elements; the empty list is `ABSENT`.
 */
export interface Reading {
  /** Equal names are equal functions. */
  readonly name: string;
  readonly mayFail: boolean;
  /** The texts whose image is accepted; where the function fails, all texts or none. */
  readonly before: (image: AnyMachine, ifFails: boolean) => AnyMachine;
}

/** A machine that reads by feeding another one. */
interface Feeding<State> {
  readonly start: State;
  readonly keyOf: (state: State) => string | number;
  readonly cuts: Iterable<number>;
  readonly step: (state: State, point: number) => State;
  readonly accepts: (state: State) => boolean;
}

export function machine<State>(of: Feeding<State>): AnyMachine {
  return of as unknown as AnyMachine;
}

export function pointsOf(text: string): readonly number[] {
  return Array.from(text, (character) => character.codePointAt(0)!);
}

/** Feeds several characters. */
export function fed(inner: AnyMachine, state: unknown, points: readonly number[]): unknown {
  return points.reduce((at, point) => inner.step(at, point), state);
}

/** A field of which each text is one value; reading it fails if it is absent. */
export const OR_FAIL: Reading = { name: 'value', mayFail: true, before: element(0, false) };
/** The first of a list; the empty text if there is none. */
export const FIRST_OR_EMPTY: Reading = { name: 'first', mayFail: false, before: element(0, true) };
/** A list that is never empty: reading it fails if the field is absent. */
export const LIST_OR_FAIL: Reading = {
  name: 'list',
  mayFail: true,
  before: (image, ifFails) =>
    machine<{ state: unknown; how: 'one' | 'several' | 'failed' }>({
      start: { state: image.start, how: 'one' },
      keyOf: ({ state, how }) => (how === 'failed' ? how : `${how} ${image.keyOf(state)}`),
      cuts: [...image.cuts, ABSENT, SEPARATOR],
      step: ({ state, how }, point) => {
        if (how === 'failed' || (how === 'one' && point === ABSENT)) return { state: null, how: 'failed' };
        return { state: image.step(state, point), how: point === SEPARATOR ? 'several' : how };
      },
      accepts: ({ state, how }) => (how === 'failed' ? ifFails : image.accepts(state)),
    }),
};

/** The element of a list at a position; outside of the list it fails. */
export function elementAt(position: number): Reading {
  return { name: `[${position}]`, mayFail: true, before: element(position, false) };
}

interface Element {
  /** How many elements were begun before the one that is read. */
  readonly at: number;
  readonly state: unknown;
  readonly ended: boolean | null;
}

function element(position: number, isEmptyWithout: boolean): Reading['before'] {
  return (image, ifFails) => {
    const without = isEmptyWithout ? image.accepts(image.start) : ifFails;
    return machine<Element>({
      start: { at: 0, state: image.start, ended: null },
      keyOf: (each) =>
        each.ended === null ? `${each.at} ${image.keyOf(each.state)}` : `ended ${each.ended}`,
      cuts: [...image.cuts, ABSENT, SEPARATOR],
      step: (each, point) => {
        if (each.ended !== null) return each;
        if (point === ABSENT) return { ...each, ended: without };
        if (point !== SEPARATOR)
          return each.at < position ? each : { ...each, state: image.step(each.state, point) };
        return each.at < position
          ? { ...each, at: each.at + 1 }
          : { ...each, ended: image.accepts(each.state) };
      },
      accepts: ({ at, state, ended: isAccepted }) =>
        isAccepted ?? (at < position ? without : image.accepts(state)),
    });
  };
}
