import { ABSENT, type Dfa, SEPARATOR, rangeOf } from './automaton.ts';

/**
 * A deterministic machine that reads a text code point by code point. It may have many states: `dfa.ts` explores
 * them up to a limit.
 */
export interface Machine<State> {
  readonly start: State;
  /** Equal keys are equal states. */
  readonly keyOf: (state: State) => string | number;
  /** Code points at which a new range begins; `step` is constant within a range. */
  readonly cuts: Iterable<number>;
  readonly step: (state: State, codePoint: number) => State;
  readonly accepts: (state: State) => boolean;
}

export type AnyMachine = Machine<unknown>;

const DEAD = -1;

/** The texts that are equal to one of a list, or begin with one of it. */
export function literals(texts: readonly string[], how: 'equal' | 'prefix'): Machine<number> {
  const children: Map<number, number>[] = [new Map()];
  const ends = new Set<number>();
  const cuts = new Set<number>();
  for (const text of texts) {
    let at = 0;
    for (const character of text) {
      const point = character.codePointAt(0)!;
      cuts.add(point).add(point + 1);
      let next = children[at]!.get(point);
      if (next === undefined) {
        next = children.push(new Map()) - 1;
        children[at]!.set(point, next);
      }
      at = next;
    }
    ends.add(at);
  }
  const isPrefix = how === 'prefix';
  return {
    start: 0,
    keyOf: (state) => state,
    cuts,
    step: (state, point) => {
      if (isPrefix && ends.has(state)) return state;
      return state === DEAD ? DEAD : (children[state]!.get(point) ?? DEAD);
    },
    accepts: (state) => ends.has(state),
  };
}

/** The texts that are in several sets. */
export function inAll(
  sets: readonly { readonly dfa: Dfa; readonly accepted: boolean }[],
): Machine<readonly number[]> {
  return {
    start: sets.map(() => 0),
    keyOf: (states) => states.join(),
    cuts: sets.flatMap(({ dfa }) => dfa.starts),
    step: (states, point) =>
      sets.map(({ dfa }, at) => dfa.next[states[at]! * dfa.starts.length + rangeOf(dfa.starts, point)]!),
    accepts: (states) => sets.every(({ dfa, accepted }, at) => (dfa.accepts[states[at]!] === 1) === accepted),
  };
}

/** State of a machine before and after the last character. */
interface Trailing<State> {
  readonly state: State;
  /** Whether the text so far is an accepted one and a slash. */
  readonly ends: boolean;
}

/** The accepted texts, each with a slash behind it. */
export function withSlash<State>(inner: Machine<State>): Machine<Trailing<State>> {
  return {
    start: { state: inner.start, ends: false },
    keyOf: ({ state, ends }) => `${ends ? '/' : ''}${inner.keyOf(state)}`,
    cuts: [...inner.cuts, 47, 48],
    step: ({ state }, point) => ({
      state: inner.step(state, point),
      ends: point === 47 && inner.accepts(state),
    }),
    accepts: ({ ends }) => ends,
  };
}

/** The fields whose first value is accepted by `inner`; the absent field is accepted or not. */
export function withAbsent<State>(inner: Machine<State>, accepted: boolean): Machine<FirstValue<State>> {
  return {
    start: { ended: false, state: inner.start },
    keyOf: (at) => (at.ended ? `ended ${at.isAcceptable}` : inner.keyOf(at.state)),
    cuts: [...inner.cuts, ABSENT, SEPARATOR],
    step: (at, point) => {
      if (at.ended) return at;
      // Behind another character, `ABSENT` is outside of every field.
      if (point === ABSENT) return { ended: true, isAcceptable: accepted };
      if (point === SEPARATOR) return { ended: true, isAcceptable: inner.accepts(at.state) };
      return { ended: false, state: inner.step(at.state, point) };
    },
    accepts: (at) => (at.ended ? at.isAcceptable : inner.accepts(at.state)),
  };
}

type FirstValue<State> =
  | { readonly ended: false; readonly state: State }
  | { readonly ended: true; readonly isAcceptable: boolean };
