import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Node } from '../ast.ts';
import type { Evaluate } from '../function_table.ts';
import { EVALUATION_BUDGET } from '../limits.ts';
import type { Typed } from '../typed.ts';
import { type ObjectType, decayed } from '../types.ts';
import { type Outcome, EvalError } from '../values.ts';
import { planBinary } from './binary.ts';
import { planCall } from './calls.ts';
import { planList, planMap } from './containers.ts';
import { planConditional, planLogic, planUnary } from './logic.ts';
import { planBind, planMacro } from './loops.ts';
import { planHas, planIndex, planName, planSelect } from './paths.ts';
import { constantPlan, errorOf, failing, running, typeOfNode } from './plan.ts';
import type { Observer, Plan, Planner } from './plan.ts';

export interface PlanOptions<A> {
  readonly observer?: Observer<A>;
  readonly lenient?: boolean;
}

export interface Planned<A> {
  /** Evaluates; never throws, returns an error value instead. */
  readonly evaluate: (activation: A) => Outcome;
  /** The value if it never depends on the activation. */
  readonly constant: Outcome | undefined;
  /** Findings of planning: patterns and ranges that cannot be compiled, constant conditions. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a checked tree to closures. */
export function planTyped<A>(typed: Typed<A>, options: PlanOptions<A> = {}): Planned<A> {
  const planner: Planner<A> = {
    typed,
    meter: { left: EVALUATION_BUDGET },
    cells: new Map(),
    observer: options.observer,
    lenient: options.lenient ?? false,
    diagnostics: [],
    stateful: false,
    loops: 0,
    plan: (node, keepFields = false) => planNode(planner, node, keepFields),
  };
  const root = planner.plan(typed.ast.root);
  const { diagnostics } = planner;
  const evaluate = planner.stateful ? guardedState(planner, root.run) : guarded(root.run);
  return { evaluate, constant: root.constant, diagnostics };
}

function planNode<A>(planner: Planner<A>, node: Node, keepFields: boolean): Plan<A> {
  const plan = planBare(planner, node, keepFields);
  const { observer } = planner;
  if (observer === undefined) return plan;
  const means = planner.typed.meanings[node.id]?.means;
  if (plan.constant !== undefined) observer.constant(node, plan.constant);
  else if (observer.leaf !== undefined && (means === 'variable' || means === 'local'))
    observer.leaf(node, plan.run);
  else return { ...plan, run: observer.wrap(node, plan.run, planner.loops > 0) };
  return plan;
}

function planBare<A>(planner: Planner<A>, node: Node, keepFields: boolean): Plan<A> {
  const meaning = planner.typed.meanings[node.id];
  if (meaning?.means === 'variable') {
    const { readText } = meaning.variable;
    if (!keepFields && readText !== undefined) return running({ kind: 'string' }, readText);
  }
  const make = PLANNING[node.kind] as (planner: Planner<A>, node: Node) => Plan<A>;
  const plan = make(planner, node);
  return keepFields || plan.type.kind !== 'object' || plan.type.text === undefined
    ? plan
    : asText(plan, plan.type);
}

/** The plain string of a string with fields. */
function asText<A>(plan: Plan<A>, type: ObjectType): Plan<A> {
  const text = type.text as (object: unknown) => string;
  const { run } = plan;
  return running(decayed(type), (activation) => {
    const outcome = run(activation);
    return outcome instanceof EvalError ? outcome : text(outcome);
  });
}

const PLANNING: {
  readonly [K in Node['kind']]: <A>(planner: Planner<A>, node: Extract<Node, { kind: K }>) => Plan<A>;
} = {
  literal: (planner, node) => constantPlan(typeOfNode(planner, node), node.value),
  name: planName,
  select: planSelect,
  has: planHas,
  index: planIndex,
  call: planCall,
  unary: planUnary,
  binary: planBinary,
  logic: planLogic,
  conditional: planConditional,
  list: planList,
  map: planMap,
  message: (planner, node) =>
    failing(
      typeOfNode(planner, node),
      errorOf('expr.no_such_overload', 'messages are not supported', node.span),
    ),
  macro: planMacro,
  bind: planBind,
};

function broken(thrown: unknown): EvalError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new EvalError('expr.internal', `the evaluation failed: ${message}`);
}

function nothing(): EvalError {
  return new EvalError('expr.internal', 'the activation has no value where one was declared');
}

function guarded<A>(run: Evaluate<A>): Evaluate<A> {
  return (activation) => {
    try {
      const outcome: Outcome | undefined = run(activation);
      return outcome === undefined ? nothing() : outcome;
    } catch (thrown) {
      return broken(thrown);
    }
  };
}

/**
 * Like `guarded`, with a budget: a new one, or the rest of the activation's budget. If a getter of the activation
 * evaluates the same program again, it is rejected.
 */
function guardedState<A>(planner: Planner<A>, run: Evaluate<A>): Evaluate<A> {
  const { meter, typed } = planner;
  const { allowance } = typed.scope;
  let busy = false;
  return (activation) => {
    if (busy) return new EvalError('expr.internal', 'the expression is evaluated recursively');
    busy = true;
    const left = allowance?.left(activation);
    const budget = left === undefined ? EVALUATION_BUDGET : Math.min(EVALUATION_BUDGET, Math.max(0, left));
    meter.left = budget;
    try {
      const outcome: Outcome | undefined = run(activation);
      return outcome === undefined ? nothing() : outcome;
    } catch (thrown) {
      return broken(thrown);
    } finally {
      if (left !== undefined) allowance!.spend(activation, budget - meter.left);
      busy = false;
    }
  };
}
