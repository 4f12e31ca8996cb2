import type { Diagnostic, Span } from '../../diagnostics/diagnostic.ts';
import type { Node } from '../ast.ts';
import type { Cell, Evaluate } from '../function_table.ts';
import type { Meter } from '../limits.ts';
import type { Local, Typed } from '../typed.ts';
import type { Type } from '../types.ts';
import { type EvalErrorCode, type Outcome, type Value, EvalError } from '../values.ts';
import { errorText } from '../../diagnostics/message_text.ts';

/** A node compiled to a closure. */
export interface Plan<A> {
  readonly run: Evaluate<A>;
  /** The value if it does not depend on the activation or a loop; undefined otherwise, or for an error. */
  readonly constant: Value | undefined;
  readonly type: Type;
  /** `run` never returns an error (a required variable), so readers can skip the test. */
  readonly sure?: boolean;
}

/** Observes the planner: may wrap each closure, and is notified of constants, which are never run. */
export interface Observer<A> {
  wrap(node: Node, run: Evaluate<A>, inLoop: boolean): Evaluate<A>;
  constant(node: Node, value: Outcome): void;
  /** Receives a plain variable read, which is not wrapped: reading it again later gives the same value. */
  leaf?(node: Node, run: Evaluate<A>): void;
  /** The slot for the outcome of a node that is evaluated together with others. */
  slot?(node: Node): Slot;
}

export interface Slot {
  outcome: Outcome | undefined;
}

/** The planner's state during one traversal. */
export interface Planner<A> {
  readonly typed: Typed<A>;
  readonly meter: Meter;
  readonly cells: Map<Local, Cell>;
  readonly observer: Observer<A> | undefined;
  readonly lenient: boolean;
  readonly diagnostics: Diagnostic[];
  /** Whether the program has run-time state: cells, or a budget to charge. */
  stateful: boolean;
  /** Number of loops around the current node: inside loops even cheap traversals must be charged. */
  loops: number;
  /** Plans a node; a string with fields decays to its string unless `keepFields`. */
  readonly plan: (node: Node, keepFields?: boolean) => Plan<A>;
}

export function typeOfNode<A>(planner: Planner<A>, node: Node): Type {
  return planner.typed.types[node.id] ?? { kind: 'dyn' };
}

/** A plan whose closure must run on each evaluation. */
export function running<A>(type: Type, run: Evaluate<A>): Plan<A> {
  return { run, constant: undefined, type };
}

export function constantPlan<A>(type: Type, value: Value): Plan<A> {
  return { run: () => value, constant: value, type };
}

export function failing<A>(type: Type, error: EvalError): Plan<A> {
  return { run: () => error, constant: undefined, type };
}

/**
 * Folds constants: `run` reads neither activation nor cells, because all its inputs are constant. An error is
 * kept as the closure's result.
 */
export function folded<A>(planner: Planner<A>, plan: Plan<A>, inputs: readonly Plan<A>[]): Plan<A> {
  for (const input of inputs) if (input.constant === undefined) return plan;
  planner.meter.left = FOLDING_BUDGET;
  const outcome = guardedRun(plan);
  if (!(outcome instanceof EvalError)) return constantPlan(plan.type, outcome);
  // An evaluation that exceeds the folding budget may be acceptable at run time.
  return outcome.code === 'expr.budget_exceeded' ? plan : failing(plan.type, outcome);
}

/** Planning must not throw, even if a function of the table fails on values of a wrong type. */
function guardedRun<A>(plan: Plan<A>): Outcome {
  try {
    return plan.run(undefined as A);
  } catch (error) {
    return new EvalError('expr.internal', errorText(error));
  }
}

/** Budget for folding one node: small, because folding happens while a configuration is loaded. */
const FOLDING_BUDGET = 20_000;

export function exhaustedAt(span: Span): EvalError {
  return new EvalError('expr.budget_exceeded', 'the evaluation exceeded its cost limit', span);
}

/** An error for an operand of the wrong kind; an operand that is an error is returned itself. */
export function wrongOperand(outcome: Outcome | undefined, wanted: string, span: Span): EvalError {
  if (outcome instanceof EvalError) return outcome;
  return new EvalError('expr.no_such_overload', `a ${wanted} is required here`, span);
}

export function errorOf(code: EvalErrorCode, message: string, span: Span): EvalError {
  return new EvalError(code, message, span);
}
