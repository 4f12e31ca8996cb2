import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Call, CallWith, Evaluate, Overload } from '../function_table.ts';
import { type Outcome, type Value, errorAt, EvalError } from '../values.ts';

/** The function that is called if all arguments have values. */
export type Implementation<A> = { readonly call: Call } | { readonly callWith: CallWith<A> };

/** Evaluates the arguments, then calls; the first error among them is the outcome. */
export function invoke<A>(
  implementation: Implementation<A>,
  args: readonly Evaluate<A>[],
  span: Span,
): Evaluate<A> {
  if ('callWith' in implementation) return invokeWith(implementation.callWith, args, span);
  const { call } = implementation;
  const [first, second] = args;
  if (args.length === 1) {
    return (activation) => {
      const value = first!(activation);
      if (value instanceof EvalError) return value;
      const outcome = call(value);
      return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
    };
  }
  if (args.length === 2) {
    return (activation) => {
      const one = first!(activation);
      if (one instanceof EvalError) return one;
      const other = second!(activation);
      if (other instanceof EvalError) return other;
      const outcome = call(one, other);
      return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
    };
  }
  return (activation) => {
    const values = evaluateAll(args, activation);
    if (values instanceof EvalError) return values;
    const outcome = call(...values);
    return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
  };
}

function invokeWith<A>(callWith: CallWith<A>, args: readonly Evaluate<A>[], span: Span): Evaluate<A> {
  if (args.length === 0) {
    return (activation) => {
      const outcome = callWith(activation);
      return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
    };
  }
  return (activation) => {
    const values = evaluateAll(args, activation);
    if (values instanceof EvalError) return values;
    const outcome = callWith(activation, ...values);
    return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
  };
}

/** Values of all arguments, or the first error. */
export function evaluateAll<A>(args: readonly Evaluate<A>[], activation: A): Value[] | EvalError {
  const values: Value[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const value = args[index]!(activation);
    if (value instanceof EvalError) return value;
    values.push(value);
  }
  return values;
}

export function implementationOf<A>(overload: Overload<A>): Implementation<A> {
  if (overload.call !== undefined) return { call: overload.call };
  if (overload.callWith !== undefined) return { callWith: overload.callWith };
  return { call: () => new EvalError('expr.internal', `${overload.id} has no implementation`) };
}

export function apply<A>(
  implementation: Implementation<A>,
  activation: A,
  values: readonly Value[],
): Outcome {
  return 'call' in implementation
    ? implementation.call(...values)
    : implementation.callWith(activation, ...values);
}
