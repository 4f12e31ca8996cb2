import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Evaluate, Overload } from '../function_table.ts';
import type { Type } from '../types.ts';
import {
  Double,
  Duration,
  errorAt,
  EvalError,
  isMap,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from '../values.ts';
import type { Value } from '../values.ts';
import { type Implementation, apply, evaluateAll, implementationOf } from './invoke.ts';
import { type Plan, type Planner, errorOf, exhaustedAt } from './plan.ts';

interface Candidate<A> {
  readonly overload: Overload<A>;
  readonly implementation: Implementation<A>;
  readonly accepts: readonly ((value: Value) => boolean)[];
}

/** Selects the overload by the values, in table order. */
export function dispatch<A>(
  planner: Planner<A>,
  overloads: readonly Overload<A>[],
  plans: readonly Plan<A>[],
  span: Span,
): Evaluate<A> {
  const args = plans.map((plan) => plan.run);
  const candidates: Candidate<A>[] = overloads.map((overload) => ({
    overload,
    implementation: implementationOf(overload),
    accepts: overload.params.map(accepting),
  }));
  const { meter } = planner;
  const exhausted = exhaustedAt(span);
  const none = errorOf('expr.no_such_overload', 'no overload accepts values of these types', span);
  planner.stateful = true;
  return (activation) => {
    const values = evaluateAll(args, activation);
    if (values instanceof EvalError) return values;
    const found = candidates.find((candidate) => fits(candidate, values));
    if (found === undefined) return none;
    meter.left -= found.overload.cost?.(...values) ?? 1;
    if (!(meter.left >= 0)) return exhausted;
    const outcome = apply(found.implementation, activation, values);
    return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
  };
}

function fits<A>({ overload, accepts }: Candidate<A>, values: readonly Value[]): boolean {
  const variadic = overload.variadic === true;
  if (variadic ? values.length < accepts.length : values.length !== accepts.length) return false;
  return values.every((value, index) => accepts[Math.min(index, accepts.length - 1)]!(value));
}

/** Whether a value matches a parameter; members of lists and maps are not checked. */
function accepting(param: Type): (value: Value) => boolean {
  return ACCEPTING[param.kind];
}

const anything = (): boolean => true;

const ACCEPTING: Readonly<Record<Type['kind'], (value: Value) => boolean>> = {
  dyn: anything,
  parameter: anything,
  null: (value) => value === null,
  bool: (value) => typeof value === 'boolean',
  int: (value) => typeof value === 'number' || typeof value === 'bigint',
  uint: (value) => value instanceof Uint,
  double: (value) => value instanceof Double,
  string: (value) => typeof value === 'string',
  bytes: (value) => value instanceof Uint8Array,
  timestamp: (value) => value instanceof Timestamp,
  duration: (value) => value instanceof Duration,
  type: (value) => value instanceof TypeValue,
  optional: (value) => value instanceof Optional,
  list: (value) => Array.isArray(value),
  map: isMap,
  // Host objects have no type at run time: such overloads are for checked programs only.
  object: () => false,
};
