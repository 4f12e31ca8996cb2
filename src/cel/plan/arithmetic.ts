import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Binary, BinaryOperator, Node } from '../ast.ts';
import type { Evaluate } from '../function_table.ts';
import { CHARACTERS_PER_UNIT, LONG_STRING } from '../limits.ts';
import { type Int, addInt, divideInt, multiplyInt, remainderInt, subtractInt } from '../numbers.ts';
import { INT, STRING } from '../types.ts';
import { type Outcome, errorAt, EvalError } from '../values.ts';
import { type Plan, type Planner, exhaustedAt, folded, running, typeOfNode, wrongOperand } from './plan.ts';

/** `+ - * / %` of two ints and `+` of strings; undefined for other types, which use the table. */
export function planArithmetic<A>(planner: Planner<A>, node: Binary): Plan<A> | undefined {
  const kind = typeOfNode(planner, node.left).kind;
  if (kind !== typeOfNode(planner, node.right).kind) return undefined;
  if (kind === 'string' && node.operator === '+') return planConcatenation(planner, node);
  const exact = kind === 'int' ? INT_OPERATORS[node.operator] : undefined;
  if (exact === undefined) return undefined;
  const [left, right] = [planner.plan(node.left), planner.plan(node.right)];
  const constant = right.constant;
  const byConstant = BY_CONSTANT[node.operator];
  if (
    byConstant !== undefined &&
    typeof constant === 'number' &&
    constant !== 0 &&
    left.constant === undefined
  ) {
    return running(INT, byConstant(left.run, constant, exact, node.span));
  }
  const make = FAST[node.operator] ?? general;
  return folded(planner, running(INT, make(left.run, right.run, exact, node.span)), [left, right]);
}

type IntOperation = (left: Int, right: Int) => Int | EvalError;

const INT_OPERATORS: Partial<Record<BinaryOperator, IntOperation>> = {
  '+': addInt,
  '-': subtractInt,
  '*': multiplyInt,
  '/': divideInt,
  '%': remainderInt,
};

type Make = <A>(left: Evaluate<A>, right: Evaluate<A>, exact: IntOperation, span: Span) => Evaluate<A>;

/** All cases except two numbers with a safe result: errors, bigints, overflow. */
function slow(left: Outcome, right: Outcome, exact: IntOperation, span: Span): Outcome {
  if (typeof left !== 'number' && typeof left !== 'bigint') return wrongOperand(left, 'int', span);
  if (typeof right !== 'number' && typeof right !== 'bigint') return wrongOperand(right, 'int', span);
  const outcome = exact(left, right);
  return outcome instanceof EvalError ? errorAt(outcome, span) : outcome;
}

const general: Make = (left, right, exact, span) => (activation) => {
  const one = left(activation);
  return one instanceof EvalError ? one : slow(one, right(activation), exact, span);
};

const SAFE = Number.MAX_SAFE_INTEGER;

/** A separate closure per operator, so that each has its own type feedback. */
const FAST: Partial<Record<BinaryOperator, Make>> = {
  '+': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const other = right(activation);
    if (typeof one === 'number' && typeof other === 'number') {
      const sum = one + other;
      if (sum <= SAFE && sum >= -SAFE) return sum;
    }
    return slow(one, other, exact, span);
  },
  '-': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const other = right(activation);
    if (typeof one === 'number' && typeof other === 'number') {
      const difference = one - other;
      if (difference <= SAFE && difference >= -SAFE) return difference;
    }
    return slow(one, other, exact, span);
  },
  '*': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const other = right(activation);
    if (typeof one === 'number' && typeof other === 'number') {
      const product = one * other;
      // Adding 0 turns -0 into 0, because ints have no -0.
      if (product <= SAFE && product >= -SAFE) return product + 0;
    }
    return slow(one, other, exact, span);
  },
  '/': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const other = right(activation);
    if (typeof one === 'number' && typeof other === 'number' && other !== 0)
      return Math.trunc(one / other) + 0;
    return slow(one, other, exact, span);
  },
  '%': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const other = right(activation);
    if (typeof one === 'number' && typeof other === 'number' && other !== 0) return (one % other) + 0;
    return slow(one, other, exact, span);
  },
};

type MakeByConstant = <A>(left: Evaluate<A>, right: number, exact: IntOperation, span: Span) => Evaluate<A>;

/** The same with a nonzero constant on the right. */
const BY_CONSTANT: Partial<Record<BinaryOperator, MakeByConstant>> = {
  '+': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const sum = typeof one === 'number' ? one + right : Number.NaN;
    return sum <= SAFE && sum >= -SAFE ? sum : slow(one, right, exact, span);
  },
  '-': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const difference = typeof one === 'number' ? one - right : Number.NaN;
    return difference <= SAFE && difference >= -SAFE ? difference : slow(one, right, exact, span);
  },
  '*': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    const product = typeof one === 'number' ? one * right : Number.NaN;
    return product <= SAFE && product >= -SAFE ? product + 0 : slow(one, right, exact, span);
  },
  '/': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    return typeof one === 'number' ? Math.trunc(one / right) + 0 : slow(one, right, exact, span);
  },
  '%': (left, right, exact, span) => (activation) => {
    const one = left(activation);
    return typeof one === 'number' ? (one % right) + 0 : slow(one, right, exact, span);
  },
};

/** `a + b + c` as one closure, so that no intermediate string is created. */
function planConcatenation<A>(planner: Planner<A>, node: Binary): Plan<A> {
  const { observer } = planner;
  const flat = observer === undefined || (observer.slot !== undefined && planner.loops === 0);
  const nodes = flat ? pieces(planner, node) : [node.left, node.right];
  const plans = nodes.map((piece) => planner.plan(piece));
  const { meter } = planner;
  const exhausted = exhaustedAt(node.span);
  const { span } = node;
  planner.stateful = true;
  const charged = (text: string): Outcome => {
    if (text.length > LONG_STRING) meter.left -= text.length / CHARACTERS_PER_UNIT;
    return meter.left >= 0 ? text : exhausted;
  };
  const runs = plans.map((plan) => plan.run);
  const [first, second, third] = runs;
  const two: Evaluate<A> = (activation) => {
    const one = first!(activation);
    if (typeof one !== 'string') return wrongOperand(one, 'string', span);
    const other = second!(activation);
    return typeof other === 'string' ? charged(one + other) : wrongOperand(other, 'string', span);
  };
  const three: Evaluate<A> = (activation) => {
    const one = first!(activation);
    if (typeof one !== 'string') return wrongOperand(one, 'string', span);
    const other = second!(activation);
    if (typeof other !== 'string') return wrongOperand(other, 'string', span);
    const last = third!(activation);
    return typeof last === 'string' ? charged(one + other + last) : wrongOperand(last, 'string', span);
  };
  const many: Evaluate<A> = (activation) => {
    let text = '';
    for (let index = 0; index < runs.length; index += 1) {
      const piece = runs[index]!(activation);
      if (typeof piece !== 'string') return wrongOperand(piece, 'string', span);
      text += piece;
    }
    return charged(text);
  };
  const sums = observer?.slot === undefined || !flat ? [] : innerSums(node).map((sum) => observer.slot!(sum));
  const traced: Evaluate<A> = (activation) => {
    let text = '';
    for (let index = 0; index < runs.length; index += 1) {
      const piece = runs[index]!(activation);
      if (typeof piece !== 'string') return wrongOperand(piece, 'string', span);
      text += piece;
      if (index > 0 && index <= sums.length) sums[index - 1]!.outcome = text;
    }
    return charged(text);
  };
  const plain = runs.length === 2 ? two : runs.length === 3 ? three : many;
  const run = sums.length === 0 ? plain : traced;
  return folded(planner, running(STRING, run), plans);
}

/** The additions inside a chain, innermost first; their outcomes are stored for the observer. */
function innerSums(node: Node): readonly Node[] {
  const sums: Node[] = [];
  for (
    let at = node;
    at.kind === 'binary' && at.left.kind === 'binary' && at.left.operator === '+';
    at = at.left
  ) {
    sums.push(at.left);
  }
  return sums.toReversed();
}

/** The operands of a chain of string additions. */
function pieces<A>(planner: Planner<A>, node: Node): readonly Node[] {
  const isChain =
    node.kind === 'binary' &&
    node.operator === '+' &&
    typeOfNode(planner, node.left).kind === 'string' &&
    typeOfNode(planner, node.right).kind === 'string';
  return isChain ? [...pieces(planner, node.left), node.right] : [node];
}
