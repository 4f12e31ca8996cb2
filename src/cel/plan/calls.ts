import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Binary, Call, Node, Unary } from '../ast.ts';
import type { Evaluate, Overload, Problem } from '../function_table.ts';
import { CHARACTERS_PER_UNIT, LONG_STRING } from '../limits.ts';
import { type Outcome, type Value, errorAt, EvalError } from '../values.ts';
import { dispatch } from './dispatch.ts';
import { type Implementation, apply, evaluateAll, implementationOf, invoke } from './invoke.ts';
import { errorOf, exhaustedAt, failing, folded, running, typeOfNode } from './plan.ts';
import type { Plan, Planner } from './plan.ts';

export function planCall<A>(planner: Planner<A>, node: Call): Plan<A> {
  const meaning = planner.typed.meanings[node.id];
  if (meaning?.means === 'call') return planRow(planner, node);
  const message = meaning?.means === 'nothing' ? meaning.message : 'unknown function';
  return failing(typeOfNode(planner, node), errorOf('expr.no_such_overload', message, node.span));
}

/** A call or operator with the overloads that the checker selected. */
export function planRow<A>(planner: Planner<A>, node: Call | Unary | Binary): Plan<A> {
  const meaning = planner.typed.meanings[node.id];
  const type = typeOfNode(planner, node);
  if (meaning?.means !== 'call') {
    return failing(type, errorOf('expr.no_such_overload', 'unknown function', node.span));
  }
  const { candidates, exact, args } = meaning;
  const only = exact ? candidates[0] : undefined;
  const plans = args.map((argument, index) =>
    planner.plan(argument, only !== undefined && wantsObject(only, index)),
  );
  if (only === undefined) {
    const pure = candidates.every((candidate) => candidate.pure);
    const plan = running(type, dispatch(planner, candidates, plans, node.span));
    return pure ? folded(planner, plan, plans) : plan;
  }
  const special = specialised(planner, only, plans, args, node.span);
  if (special !== undefined) return special.constant === undefined ? { ...special, type } : special;
  const plan = running(type, direct(planner, only, plans, node.span));
  return only.pure ? folded(planner, plan, plans) : plan;
}

/** Whether a parameter is an object type, which then gets the string with its fields. */
function wantsObject<A>(overload: Overload<A>, index: number): boolean {
  return overload.params[Math.min(index, overload.params.length - 1)]?.kind === 'object';
}

/** The overload specialised for its constant arguments, if supported and some arguments are not constant. */
function specialised<A>(
  planner: Planner<A>,
  overload: Overload<A>,
  plans: readonly Plan<A>[],
  args: readonly Node[],
  span: Span,
): Plan<A> | undefined {
  const { specialise } = overload;
  if (specialise === undefined) return undefined;
  const constants = plans.map((plan) => plan.constant);
  if (constants.every(isUnknown)) return undefined;
  const special = specialise(constants);
  if (special === undefined) return undefined;
  if (special.problem !== undefined) reportProblem(planner, special.problem, args);
  if (!('call' in special || 'callWith' in special)) return undefined;
  const rest = plans.filter((plan) => plan.constant === undefined);
  if (rest.length === 0 && overload.pure) return undefined;
  const implementation =
    'cost' in special && special.cost !== undefined
      ? chargedAs(planner, special.call, special.cost, span)
      : planner.loops > 0 && overload.cost !== undefined
        ? charged(planner, special, rest.length, span)
        : special;
  const runs = rest.map((plan) => plan.run);
  return running(overload.result, invoke(implementation, runs, span));
}

const isUnknown = (constant: Value | undefined): boolean => constant === undefined;

/** A call with a cost of its own. */
function chargedAs<A>(
  planner: Planner<A>,
  call: (...values: Value[]) => Outcome,
  cost: (...values: Value[]) => number,
  span: Span,
): Implementation<A> {
  const { meter } = planner;
  const exhausted = exhaustedAt(span);
  planner.stateful = true;
  return {
    call: (...values) => {
      meter.left -= cost(...values);
      return meter.left >= 0 ? call(...values) : exhausted;
    },
  };
}

/** Inside loops the texts that a specialised call walks are charged, for they are walked many times. */
function charged<A>(
  planner: Planner<A>,
  implementation: Implementation<A>,
  arity: number,
  span: Span,
): Implementation<A> {
  const { meter } = planner;
  const exhausted = exhaustedAt(span);
  const charge = (values: readonly Value[]): boolean => {
    for (const value of values)
      if (typeof value === 'string') meter.left -= value.length / CHARACTERS_PER_UNIT;
    return meter.left >= 0;
  };
  planner.stateful = true;
  if ('call' in implementation) {
    const { call } = implementation;
    if (arity === 1) {
      return {
        call: (value) => {
          if (typeof value === 'string' && value.length > LONG_STRING) {
            meter.left -= value.length / CHARACTERS_PER_UNIT;
          }
          return meter.left >= 0 ? call(value) : exhausted;
        },
      };
    }
    return { call: (...values) => (charge(values) ? call(...values) : exhausted) };
  }
  const { callWith } = implementation;
  return {
    callWith: (activation, ...values) => (charge(values) ? callWith(activation, ...values) : exhausted),
  };
}

function spanOver(args: readonly Node[]): Span {
  return { start: args[0]?.span.start ?? 0, end: args.at(-1)?.span.end ?? 0 };
}

function reportProblem<A>(planner: Planner<A>, problem: Problem, args: readonly Node[]): void {
  if (planner.lenient) return;
  const argument = args[problem.argument];
  const inList =
    argument?.kind === 'list' && problem.element !== undefined
      ? argument.elements[problem.element]?.node
      : undefined;
  const span = (inList ?? argument)?.span ?? spanOver(args);
  const { code, message, severity = 'error', hint, replacement } = problem;
  const more = {
    ...(hint === undefined ? {} : { hint }),
    ...(replacement === undefined
      ? {}
      : { fix: { message: `write ${replacement}`, span, text: replacement, safe: false } }),
  };
  planner.diagnostics.push({ code, severity, message, pointer: '', span, ...more });
}

/** The single overload that the types allow. */
function direct<A>(
  planner: Planner<A>,
  overload: Overload<A>,
  plans: readonly Plan<A>[],
  span: Span,
): Evaluate<A> {
  const args = plans.map((plan) => plan.run);
  const { cost } = overload;
  const implementation = implementationOf(overload);
  if (cost === undefined) return invoke(implementation, args, span);
  planner.stateful = true;
  const { meter } = planner;
  const exhausted = exhaustedAt(span);
  const [only] = args;
  if (args.length === 1 && 'call' in implementation) {
    const { call } = implementation;
    return (activation) => {
      const value = only!(activation);
      if (value instanceof EvalError) return value;
      meter.left -= cost(value);
      if (!(meter.left >= 0)) return exhausted;
      const outcome = call(value);
      return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
    };
  }
  return (activation) => {
    const values = evaluateAll(args, activation);
    if (values instanceof EvalError) return values;
    meter.left -= cost(...values);
    // Written so that a cost of NaN is refused too.
    if (!(meter.left >= 0)) return exhausted;
    const outcome = apply(implementation, activation, values);
    return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
  };
}
