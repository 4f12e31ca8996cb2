import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Conditional, Logic, Node, Unary } from '../ast.ts';
import type { Evaluate } from '../function_table.ts';
import { BOOL } from '../types.ts';
import type { EvalError, Outcome } from '../values.ts';
import { planRow } from './calls.ts';
import { fuseChain } from './chains.ts';
import { type Plan, type Planner, constantPlan, folded, running, typeOfNode, wrongOperand } from './plan.ts';

export function planUnary<A>(planner: Planner<A>, node: Unary): Plan<A> {
  if (node.operator === '-') return planRow(planner, node);
  const operand = planner.plan(node.operand);
  const { run } = operand;
  const { span } = node.operand;
  const plan = running<A>(BOOL, (activation) => {
    const holds = run(activation);
    if (holds === true) return false;
    return holds === false ? true : wrongOperand(holds, 'bool', span);
  });
  return folded(planner, plan, [operand]);
}

export function planLogic<A>(planner: Planner<A>, node: Logic): Plan<A> {
  // `false` decides a chain of `&&`, `true` one of `||`; the other value is neutral and can be omitted.
  const deciding = node.operator === '||';
  const terms = node.terms.map((term) => planner.plan(term));
  let hasConstants = false;
  for (let index = 0; index < terms.length; index += 1) {
    if (terms[index]!.constant === undefined) continue;
    hasConstants = true;
    warnConstant(planner, node.terms[index]!, terms[index]!);
  }
  if (hasConstants && planner.observer === undefined) {
    if (terms.some((term) => term.constant === deciding)) return constantPlan(BOOL, deciding);
    const left = terms.filter((term) => term.constant !== !deciding);
    if (left.length === 0) return constantPlan(BOOL, !deciding);
    const nodes = node.terms.filter((_term, index) => terms[index]!.constant !== !deciding);
    const runs = fuseChain(planner, node.operator, nodes, left);
    return running(BOOL, chain(runs, deciding, node.span));
  }
  return running(BOOL, chain(fuseChain(planner, node.operator, node.terms, terms), deciding, node.span));
}

function warnConstant<A>(planner: Planner<A>, node: Node, plan: Plan<A>): void {
  if (typeof plan.constant !== 'boolean' || planner.diagnostics.some((known) => known.span === node.span))
    return;
  planner.diagnostics.push({
    code: 'expr.constant_condition',
    severity: 'warning',
    message: `this condition is always ${plan.constant}`,
    pointer: '',
    span: node.span,
  });
}

/**
 * Evaluates terms in order until one decides. An error counts only if no term decides (language definition,
 * Logical Operators); the first error is returned.
 */
function chain<A>(terms: readonly Evaluate<A>[], deciding: boolean, span: Span): Evaluate<A> {
  const [first, second, third] = terms;
  if (terms.length === 1) return only(first!, span);
  if (terms.length === 2) return deciding ? either(first!, second!, span) : both(first!, second!, span);
  if (terms.length === 3) return three(first!, second!, third!, deciding, span);
  return (activation) => {
    let error: EvalError | undefined;
    for (let index = 0; index < terms.length; index += 1) {
      const holds = terms[index]!(activation);
      if (holds === deciding) return deciding;
      if (holds !== !deciding) error ??= wrongOperand(holds, 'bool', span);
    }
    return error ?? !deciding;
  };
}

function only<A>(term: Evaluate<A>, span: Span): Evaluate<A> {
  return (activation) => {
    const holds = term(activation);
    return typeof holds === 'boolean' ? holds : wrongOperand(holds, 'bool', span);
  };
}

function both<A>(left: Evaluate<A>, right: Evaluate<A>, span: Span): Evaluate<A> {
  return (activation) => {
    const one = left(activation);
    if (one === false) return false;
    const other = right(activation);
    if (other === false) return false;
    if (one !== true) return wrongOperand(one, 'bool', span);
    return other === true ? true : wrongOperand(other, 'bool', span);
  };
}

function either<A>(left: Evaluate<A>, right: Evaluate<A>, span: Span): Evaluate<A> {
  return (activation) => {
    const one = left(activation);
    if (one === true) return true;
    const other = right(activation);
    if (other === true) return true;
    if (one !== false) return wrongOperand(one, 'bool', span);
    return other === false ? false : wrongOperand(other, 'bool', span);
  };
}

function three<A>(
  first: Evaluate<A>,
  second: Evaluate<A>,
  third: Evaluate<A>,
  deciding: boolean,
  span: Span,
): Evaluate<A> {
  const neutral = !deciding;
  return (activation) => {
    const one = first(activation);
    if (one === deciding) return deciding;
    const two = second(activation);
    if (two === deciding) return deciding;
    const last = third(activation);
    if (last === deciding) return deciding;
    if (one !== neutral) return wrongOperand(one, 'bool', span);
    if (two !== neutral) return wrongOperand(two, 'bool', span);
    return last === neutral ? neutral : wrongOperand(last, 'bool', span);
  };
}

export function planConditional<A>(planner: Planner<A>, node: Conditional): Plan<A> {
  const type = typeOfNode(planner, node);
  const keepFields = type.kind === 'object';
  const condition = planner.plan(node.condition);
  warnConstant(planner, node.condition, condition);
  const yes = planner.plan(node.yes, keepFields);
  const no = planner.plan(node.no, keepFields);
  if (planner.observer === undefined && typeof condition.constant === 'boolean') {
    return { ...(condition.constant ? yes : no), type };
  }
  const { span } = node.condition;
  const [runCondition, runYes, runNo] = [condition.run, yes.run, no.run];
  return running(type, (activation): Outcome => {
    const holds = runCondition(activation);
    if (holds === true) return runYes(activation);
    return holds === false ? runNo(activation) : wrongOperand(holds, 'bool', span);
  });
}
