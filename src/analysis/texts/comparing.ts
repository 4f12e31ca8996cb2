import { ABSENT, SEPARATOR } from './automaton.ts';
import type { AnyMachine, Machine } from './machine.ts';
import { pointsOf } from './readings.ts';

/** The texts before or after another one, in the order of their code points. */
export function comparedWith(text: string, order: string): AnyMachine {
  const points = pointsOf(text);
  const holds = (sign: number): boolean => {
    if (sign === 0) return order === '<=' || order === '>=';
    return sign < 0 === order.startsWith('<');
  };
  const machine: Machine<{ readonly at: number; readonly sign: number }> = {
    start: { at: 0, sign: 0 },
    keyOf: ({ at, sign }) => (sign === 0 ? at : sign < 0 ? 'before' : 'after'),
    cuts: points.flatMap((point) => [point, point + 1]),
    step: ({ at, sign }, point) => {
      if (sign !== 0) return { at, sign };
      if (at === points.length) return { at, sign: 1 };
      return { at: at + 1, sign: Math.sign(point - points[at]!) };
    },
    accepts: ({ at, sign }) => holds(sign !== 0 ? sign : at < points.length ? -1 : 0),
  };
  return machine as AnyMachine;
}

interface Elements {
  readonly state: unknown;
  /** How many elements before the last were accepted; up to two. */
  readonly count: number;
  readonly isEmpty: boolean;
}

/** The lists of which as many elements are accepted as `holds` says; more than two count as two. */
export function countedElements(inner: AnyMachine, holds: (count: number) => boolean): AnyMachine {
  const accepted = ({ state, count }: Elements): number =>
    Math.min(2, count + (inner.accepts(state) ? 1 : 0));
  const machine: Machine<Elements> = {
    start: { state: inner.start, count: 0, isEmpty: false },
    keyOf: ({ state, count, isEmpty }) => (isEmpty ? 'empty' : `${count} ${inner.keyOf(state)}`),
    cuts: [...inner.cuts, ABSENT, SEPARATOR],
    step: (at, point) => {
      if (at.isEmpty || point === ABSENT) return { ...at, isEmpty: true };
      if (point === SEPARATOR) return { ...at, state: inner.start, count: accepted(at) };
      return { ...at, state: inner.step(at.state, point) };
    },
    accepts: (at) => holds(at.isEmpty ? 0 : accepted(at)),
  };
  return machine as AnyMachine;
}

export function someElement(inner: AnyMachine): AnyMachine {
  return countedElements(inner, (count) => count > 0);
}

/** The list of these texts alone. */
export function thisList(texts: readonly string[]): AnyMachine {
  const points = texts.flatMap((text, at) => (at === 0 ? pointsOf(text) : [SEPARATOR, ...pointsOf(text)]));
  const wanted = texts.length === 0 ? [ABSENT] : points;
  const machine: Machine<number> = {
    start: 0,
    keyOf: (at) => at,
    cuts: [ABSENT, SEPARATOR, ...wanted.flatMap((point) => [point, point + 1])],
    step: (at, point) => (at >= 0 && wanted[at] === point ? at + 1 : -1),
    accepts: (at) => at === wanted.length,
  };
  return machine as AnyMachine;
}

/** The lists, the empty one too, of which all elements are accepted. */
export function everyElement(inner: AnyMachine): AnyMachine {
  return valuesOf(inner, true);
}

/** The accepted texts, and the absent field. */
export function oneValue(inner: AnyMachine): AnyMachine {
  return valuesOf(inner, false);
}

interface Values {
  readonly state: unknown;
  readonly how: 'begun' | 'going' | 'absent' | 'dead';
}

function valuesOf(inner: AnyMachine, isList: boolean): AnyMachine {
  const machine: Machine<Values> = {
    start: { state: inner.start, how: 'begun' },
    keyOf: ({ state, how }) => (how === 'absent' || how === 'dead' ? how : `${how} ${inner.keyOf(state)}`),
    cuts: [...inner.cuts, ABSENT, SEPARATOR],
    step: ({ state, how }, point) => {
      if (how === 'dead' || how === 'absent') return { state, how: 'dead' };
      if (point === ABSENT) return { state, how: how === 'begun' ? 'absent' : 'dead' };
      if (point !== SEPARATOR) return { state: inner.step(state, point), how: 'going' };
      const isGood = isList && inner.accepts(state);
      return { state: inner.start, how: isGood ? 'going' : 'dead' };
    },
    accepts: ({ state, how }) => how === 'absent' || (how !== 'dead' && inner.accepts(state)),
  };
  return machine as AnyMachine;
}
