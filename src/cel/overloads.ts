import type { Overload } from './function_table.ts';
import { type Type, decayed, DYN, isTextual, sameType, UNSET } from './types.ts';

/** How argument types match an overload: always, depending on the run-time values, or never. */
type Fit = 'exact' | 'dynamic' | 'none';

export interface Match<A> {
  /** Overloads to try at run time, in order; a single one, without a test of values, if `exact`. */
  readonly candidates: readonly Overload<A>[];
  readonly exact: boolean;
  readonly result: Type;
}

/** Types of type parameters; most overloads have none. */
interface Bindings {
  types: Map<string, Type> | undefined;
}

/** The overloads that accept these argument types; undefined if none does. */
export function matchOverloads<A>(
  overloads: readonly Overload<A>[],
  style: 'global' | 'method',
  args: readonly Type[],
): Match<A> | undefined {
  let candidates: Overload<A>[] | undefined;
  const bindings: Bindings = { types: undefined };
  let result: Type | undefined;
  for (const overload of overloads) {
    if (overload.style !== 'both' && overload.style !== style) continue;
    bindings.types = undefined;
    const fit = fitAll(overload, args, bindings);
    if (fit === 'none') continue;
    const own = substitute(overload.result, bindings);
    if (fit === 'exact' && candidates === undefined)
      return { candidates: [overload], exact: true, result: own };
    (candidates ??= []).push(overload);
    result = result === undefined || sameType(result, own) ? own : DYN;
    if (fit === 'exact') break;
  }
  return result === undefined || candidates === undefined ? undefined : { candidates, exact: false, result };
}

function fitAll<A>(overload: Overload<A>, args: readonly Type[], bindings: Bindings): Fit {
  const { params } = overload;
  const variadic = overload.variadic === true;
  if (variadic ? args.length < params.length : args.length !== params.length) return 'none';
  let fit: Fit = 'exact';
  for (let index = 0; index < args.length; index += 1) {
    const one = fitOne(params[Math.min(index, params.length - 1)]!, args[index]!, bindings);
    if (one === 'none') return 'none';
    if (one === 'dynamic') fit = 'dynamic';
  }
  return fit;
}

/** Whether an argument matches a parameter; binds type parameters. */
function fitOne(param: Type, arg: Type, bindings: Bindings): Fit {
  if (param.kind === 'parameter') return fitParameter(param.name, decayed(arg), bindings);
  if (param.kind === 'dyn' || arg === UNSET) return 'exact';
  if (arg.kind === 'dyn') {
    unknown(param, bindings);
    return 'dynamic';
  }
  if (arg.kind === 'object') {
    if (param.kind === 'object') return param.name === arg.name ? 'exact' : 'none';
    return param.kind === 'string' && arg.text !== undefined ? 'exact' : 'none';
  }
  if (param.kind === 'list')
    return arg.kind === 'list' ? fitOne(param.element, arg.element, bindings) : 'none';
  if (param.kind === 'optional')
    return arg.kind === 'optional' ? fitOne(param.value, arg.value, bindings) : 'none';
  if (param.kind === 'map') {
    if (arg.kind !== 'map') return 'none';
    return worse(fitOne(param.key, arg.key, bindings), fitOne(param.value, arg.value, bindings));
  }
  return param.kind === arg.kind ? 'exact' : 'none';
}

/** Binds a parameter's type parameters if the argument is unknown. */
function unknown(param: Type, bindings: Bindings): void {
  if (param.kind === 'parameter') fitParameter(param.name, DYN, bindings);
  else if (param.kind === 'list') unknown(param.element, bindings);
  else if (param.kind === 'optional') unknown(param.value, bindings);
  else if (param.kind === 'map') {
    unknown(param.key, bindings);
    unknown(param.value, bindings);
  }
}

/** Both uses of a type parameter must have the same type; `dyn`, also inside a list or map, matches anything. */
function fitParameter(name: string, arg: Type, bindings: Bindings): Fit {
  const types = (bindings.types ??= new Map());
  const known = types.get(name);
  if (known === undefined) {
    types.set(name, arg);
    return 'exact';
  }
  const joined = joinTypes(known, arg);
  if (joined === undefined) return 'none';
  types.set(name, joined);
  return 'exact';
}

function worse(one: Fit, other: Fit): Fit {
  if (one === 'none' || other === 'none') return 'none';
  return one === 'dynamic' || other === 'dynamic' ? 'dynamic' : 'exact';
}

function substitute(type: Type, bindings: Bindings): Type {
  if (type.kind === 'parameter') return bindings.types?.get(type.name) ?? UNSET;
  if (type.kind === 'list') return { kind: 'list', element: substitute(type.element, bindings) };
  if (type.kind === 'optional') return { kind: 'optional', value: substitute(type.value, bindings) };
  if (type.kind !== 'map') return type;
  return { ...type, key: substitute(type.key, bindings), value: substitute(type.value, bindings) };
}

/** The type that covers both; undefined if they are incompatible. */
export function joinTypes(left: Type, right: Type): Type | undefined {
  if (left === UNSET) return right;
  if (right === UNSET) return left;
  if (left.kind === 'dyn' || right.kind === 'dyn') return DYN;
  if (left.kind === 'object' && sameType(left, right)) return left;
  if (isTextual(left) && isTextual(right)) return decayed(left.kind === 'object' ? left : right);
  if (left.kind === 'list' && right.kind === 'list') {
    const element = joinTypes(left.element, right.element);
    return element === undefined ? undefined : { kind: 'list', element };
  }
  if (left.kind === 'optional' && right.kind === 'optional') {
    const value = joinTypes(left.value, right.value);
    return value === undefined ? undefined : { kind: 'optional', value };
  }
  if (left.kind === 'map' && right.kind === 'map') {
    const key = joinTypes(left.key, right.key);
    const value = joinTypes(left.value, right.value);
    return key === undefined || value === undefined ? undefined : { kind: 'map', key, value };
  }
  return sameType(left, right) ? left : nullable(left, right);
}

/**
 * `null` can replace a timestamp, duration or optional, but no other type (language definition, Abstract
 * Types).
 */
function nullable(left: Type, right: Type): Type | undefined {
  const other = left.kind === 'null' ? right : left;
  if (left.kind !== 'null' && right.kind !== 'null') return undefined;
  return NULLABLE.has(other.kind) ? other : undefined;
}

const NULLABLE: ReadonlySet<Type['kind']> = new Set(['timestamp', 'duration', 'optional', 'object']);
