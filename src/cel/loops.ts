/** The implementation of the macros: loops over lists and maps with a charge per iteration, and optional steps. */
import type { Cell, Evaluate, Loop } from './function_table.ts';
import { keysOfMap, lookUp } from './equality.ts';
import { canonicalKey, CelMap, EvalError, isMap, NONE, Optional } from './values.ts';
import type { CanonicalKey, MapValue, Outcome, Value } from './values.ts';

/** The iterated elements: those of a list, or the keys of a map. */
function membersOf(target: Outcome): readonly Value[] | undefined {
  if (Array.isArray(target)) return target as readonly Value[];
  return target instanceof EvalError || !isMap(target) ? undefined : keysOfMap(target);
}

function notIterable<A>(loop: Loop<A>, target: Outcome): EvalError {
  return target instanceof EvalError
    ? target
    : loop.error('expr.no_such_overload', 'only lists and maps can be looped over');
}

/** Sets the variables of one iteration. With two, the first is the index or key and the second the value. */
function binder<A>(loop: Loop<A>): (target: Outcome, member: Value, index: number) => void {
  const first = loop.variables[0]!;
  const second: Cell | undefined = loop.variables[1];
  if (second === undefined) {
    return (_target, member) => {
      first.value = member;
    };
  }
  return (target, member, index) => {
    const inList = Array.isArray(target);
    first.value = inList ? index : member;
    second.value = inList ? member : lookUp(target as MapValue, member)!;
  };
}

function notBool<A>(loop: Loop<A>, outcome: Outcome): EvalError {
  return outcome instanceof EvalError
    ? outcome
    : loop.error('expr.no_such_overload', 'the condition is not a bool');
}

/**
 * `all` and `exists`: the first iteration with the result `deciding` decides; an error counts only if none
 * does.
 */
export function quantifier(deciding: boolean) {
  return <A>(loop: Loop<A>): Evaluate<A> =>
    loop.variables.length === 1 ? overOne(loop, deciding) : overPairs(loop, deciding);
}

function overOne<A>(loop: Loop<A>, deciding: boolean): Evaluate<A> {
  const { target: runTarget, turnCost, exhausted } = loop;
  const body = loop.bodies[0]!;
  const variable = loop.variables[0]!;
  return (activation) => {
    const target = runTarget(activation);
    const members = membersOf(target);
    if (members === undefined) return notIterable(loop, target);
    if (!loop.charge(members.length * turnCost)) return exhausted;
    let error: EvalError | undefined;
    for (let index = 0; index < members.length; index += 1) {
      variable.value = members[index]!;
      const holds = body(activation);
      if (holds === deciding) return deciding;
      if (holds !== !deciding) error ??= notBool(loop, holds);
    }
    return error ?? !deciding;
  };
}

function overPairs<A>(loop: Loop<A>, deciding: boolean): Evaluate<A> {
  const body = loop.bodies[0]!;
  const bind = binder(loop);
  return (activation) => {
    const target = loop.target(activation);
    const members = membersOf(target);
    if (members === undefined) return notIterable(loop, target);
    if (!loop.charge(members.length * loop.turnCost)) return loop.exhausted;
    let error: EvalError | undefined;
    for (let index = 0; index < members.length; index += 1) {
      bind(target, members[index]!, index);
      const holds = body(activation);
      if (holds === deciding) return deciding;
      if (holds !== !deciding) error ??= notBool(loop, holds);
    }
    return error ?? !deciding;
  };
}

export function existsOne<A>(loop: Loop<A>): Evaluate<A> {
  const body = loop.bodies[0]!;
  const bind = binder(loop);
  return (activation) => {
    const target = loop.target(activation);
    const members = membersOf(target);
    if (members === undefined) return notIterable(loop, target);
    if (!loop.charge(members.length * loop.turnCost)) return loop.exhausted;
    let count = 0;
    for (let index = 0; index < members.length; index += 1) {
      bind(target, members[index]!, index);
      const holds = body(activation);
      if (holds === true) count += 1;
      else if (holds !== false) return notBool(loop, holds);
    }
    return count === 1;
  };
}

/** `filter`, `map`, `transformList`: members that pass `condition`, transformed by `make`. */
export function collector<A>(
  loop: Loop<A>,
  condition: Evaluate<A> | undefined,
  make: Evaluate<A> | undefined,
): Evaluate<A> {
  const bind = binder(loop);
  return (activation) => {
    const target = loop.target(activation);
    const members = membersOf(target);
    if (members === undefined) return notIterable(loop, target);
    if (!loop.charge(members.length * loop.turnCost)) return loop.exhausted;
    const kept: Value[] = [];
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index]!;
      bind(target, member, index);
      if (condition !== undefined) {
        const holds = condition(activation);
        if (holds === false) continue;
        if (holds !== true) return notBool(loop, holds);
      }
      const made = make === undefined ? member : make(activation);
      if (made instanceof EvalError) return made;
      kept.push(made);
    }
    return kept;
  };
}

/** A map with the same keys (or list indices) and transformed values. */
export function transformMap<A>(loop: Loop<A>): Evaluate<A> {
  const [first, second] = loop.bodies;
  const condition = second === undefined ? undefined : first;
  const make = second ?? first!;
  const bind = binder(loop);
  return (activation) => {
    const target = loop.target(activation);
    const members = membersOf(target);
    if (members === undefined) return notIterable(loop, target);
    if (!loop.charge(members.length * loop.turnCost)) return loop.exhausted;
    const slots = new Map<CanonicalKey, readonly [Value, Value]>();
    for (let index = 0; index < members.length; index += 1) {
      bind(target, members[index]!, index);
      const holds = condition === undefined || condition(activation);
      if (holds === false) continue;
      if (holds !== true) return notBool(loop, holds);
      const made = make(activation);
      if (made instanceof EvalError) return made;
      const key = Array.isArray(target) ? index : members[index]!;
      slots.set(canonicalKey(key)!, [key, made]);
    }
    return new CelMap(slots);
  };
}

/** `or` and `orValue`: the argument is evaluated only if the optional is empty. */
export function alternative(unwraps: boolean) {
  return <A>(loop: Loop<A>): Evaluate<A> => {
    const other = loop.bodies[0]!;
    return (activation) => {
      const target = loop.target(activation);
      if (!(target instanceof Optional)) {
        return target instanceof EvalError
          ? target
          : loop.error('expr.no_such_overload', 'this is not an optional');
      }
      if (target.value !== undefined) return unwraps ? target.value : target;
      const instead = other(activation);
      if (unwraps || instead instanceof EvalError || instead instanceof Optional) return instead;
      return loop.error('expr.no_such_overload', 'the alternative is not an optional');
    };
  };
}

/** `optMap` and `optFlatMap`: the body is evaluated only if the optional has a value. */
export function optionalStep(flat: boolean) {
  return <A>(loop: Loop<A>): Evaluate<A> => {
    const body = loop.bodies[0]!;
    const variable = loop.variables[0]!;
    return (activation) => {
      const target = loop.target(activation);
      if (!(target instanceof Optional)) {
        return target instanceof EvalError
          ? target
          : loop.error('expr.no_such_overload', 'this is not an optional');
      }
      if (target.value === undefined) return NONE;
      variable.value = target.value;
      const made = body(activation);
      if (made instanceof EvalError) return made;
      if (!flat) return new Optional(made);
      return made instanceof Optional
        ? made
        : loop.error('expr.no_such_overload', 'the result is not an optional');
    };
  };
}
