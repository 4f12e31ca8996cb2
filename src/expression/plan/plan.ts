import type { Diagnostic, Span } from '../../diagnostics/diagnostic.ts';
import type { Node } from '../ast.ts';
import type { Cell, Evaluate } from '../function_table.ts';
import type { Meter } from '../limits.ts';
import type { Local, Typed } from '../typed.ts';
import type { Type } from '../types.ts';
import { EvalError } from '../values.ts';
import type { EvalErrorCode, Outcome, Value } from '../values.ts';

/** A node made into a closure. */
export interface Plan<A> {
  readonly run: Evaluate<A>;
  /** The value when it does not depend on the activation or a loop; undefined when it does, or is an error. */
  readonly constant: Value | undefined;
  readonly type: Type;
  /** `run` never gives an error: a required variable. Lets what reads it go without a test. */
  readonly sure?: boolean;
}

/** Looks over the planner's shoulder: may wrap each closure, and is told of constants, which never run. */
export interface Observer<A> {
  wrap(node: Node, run: Evaluate<A>, inLoop: boolean): Evaluate<A>;
  constant(node: Node, value: Outcome): void;
  /** Takes a plain read of a variable unwrapped: reading it again later gives the same. */
  leaf?(node: Node, run: Evaluate<A>): void;
  /** Where to leave the outcome of a node that is evaluated together with others. */
  slot?(node: Node): Slot;
}

export interface Slot {
  outcome: Outcome | undefined;
}

/** The planner's state while it walks one tree. */
export interface Planner<A> {
  readonly typed: Typed<A>;
  readonly meter: Meter;
  readonly cells: Map<Local, Cell>;
  readonly observer: Observer<A> | undefined;
  readonly lenient: boolean;
  readonly diagnostics: Diagnostic[];
  /** Whether the program has state of its own while it runs: cells, or a budget to charge. */
  stateful: boolean;
  /** How many loops are around the node being planned: there, even cheap walks must be charged. */
  loops: number;
  /** Plans a node; a string with fields decays to its string unless `keepFields`. */
  readonly plan: (node: Node, keepFields?: boolean) => Plan<A>;
}

export function typeOfNode<A>(planner: Planner<A>, node: Node): Type {
  return planner.typed.types[node.id] ?? { kind: 'dyn' };
}

/** A plan whose closure must run each time. */
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
 * Evaluates at plan time what depends on nothing: `run` reads neither activation nor cells because all its
 * inputs are constant. An error is kept as the closure's result.
 */
export function folded<A>(planner: Planner<A>, plan: Plan<A>, inputs: readonly Plan<A>[]): Plan<A> {
  if (!inputs.every((input) => input.constant !== undefined)) return plan;
  planner.meter.left = FOLDING_BUDGET;
  const outcome = guardedRun(plan);
  if (!(outcome instanceof EvalError)) return constantPlan(plan.type, outcome);
  // What is too much for the moment of loading may be right for the moment of running.
  return outcome.code === 'expr.budget_exceeded' ? plan : failing(plan.type, outcome);
}

/** Planning must not throw, whatever a function of the table does with values of a wrong type. */
function guardedRun<A>(plan: Plan<A>): Outcome {
  try {
    return plan.run(undefined as A);
  } catch (error) {
    return new EvalError('expr.internal', error instanceof Error ? error.message : String(error));
  }
}

/** Units that folding one node may take: small, because folding happens when a configuration is loaded. */
const FOLDING_BUDGET = 20_000;

export function exhaustedAt(span: Span): EvalError {
  return new EvalError('expr.budget_exceeded', 'the evaluation took more than its budget allows', span);
}

/** An operand of the wrong kind: itself when it is an error already. */
export function wrongOperand(outcome: Outcome | undefined, wanted: string, span: Span): EvalError {
  if (outcome instanceof EvalError) return outcome;
  return new EvalError('expr.no_such_overload', `a ${wanted} is needed here`, span);
}

export function errorOf(code: EvalErrorCode, says: string, span: Span): EvalError {
  return new EvalError(code, says, span);
}
