import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Binary, BinaryOperator } from '../ast.ts';
import { equalWithin, memberWithin } from '../equality.ts';
import type { Evaluate } from '../function_table.ts';
import type { Meter } from '../limits.ts';
import { type Type, BOOL } from '../types.ts';
import { canonicalKey, CelMap, Double, Duration, EvalError, isMap, Timestamp } from '../values.ts';
import type { CanonicalKey, StringMap, Value } from '../values.ts';
import { compareTimes } from '../ordering.ts';
import { planArithmetic } from './arithmetic.ts';
import { planRow } from './calls.ts';
import { type Plan, type Planner, errorOf, exhaustedAt, folded, running, wrongOperand } from './plan.ts';
import { isSureHeader } from './paths.ts';

export function planBinary<A>(planner: Planner<A>, node: Binary): Plan<A> {
  const { operator, span } = node;
  if (operator === '==' || operator === '!=') return planEquality(planner, node);
  if (operator === 'in') return planMembership(planner, node);
  if (!ORDER.has(operator)) return planArithmetic(planner, node) ?? planRow(planner, node);
  const times = planTimes(planner, node);
  if (times !== undefined) return times;
  const right = planner.plan(node.right);
  if (!isInt(planner, node.left.id) || typeof right.constant !== 'number') return planRow(planner, node);
  const left = planner.plan(node.left);
  return folded(planner, running(BOOL, orderedInt(operator, left.run, right.constant, span)), [left, right]);
}

const ORDER: ReadonlySet<BinaryOperator> = new Set(['<', '<=', '>', '>=']);

function isInt<A>(planner: Planner<A>, id: number): boolean {
  return planner.typed.types[id]?.kind === 'int';
}

/** Two timestamps or two durations. */
function planTimes<A>(planner: Planner<A>, node: Binary): Plan<A> | undefined {
  const kinds = [planner.typed.types[node.left.id]?.kind, planner.typed.types[node.right.id]?.kind];
  const [kind] = kinds;
  if (kind !== kinds[1] || (kind !== 'timestamp' && kind !== 'duration')) return undefined;
  const TimeClass = kind === 'timestamp' ? Timestamp : Duration;
  const [left, right] = [planner.plan(node.left), planner.plan(node.right)];
  const [runLeft, runRight] = [left.run, right.run];
  const { span, operator } = node;
  const sign = operator.startsWith('<') ? 1 : -1;
  const orEqual = operator.endsWith('=');
  const run: Evaluate<A> = (activation) => {
    const one = runLeft(activation);
    if (!(one instanceof TimeClass)) return wrongOperand(one, kind, span);
    const other = runRight(activation);
    if (!(other instanceof TimeClass)) return wrongOperand(other, kind, span);
    const order = compareTimes(one, other) * sign;
    return orEqual ? order <= 0 : order < 0;
  };
  return folded(planner, running(BOOL, run), [left, right]);
}

/** An int compared with a constant: the form of most limits. */
function orderedInt<A>(operator: BinaryOperator, left: Evaluate<A>, bound: number, span: Span): Evaluate<A> {
  const wrong = (value: Value | EvalError): EvalError | undefined =>
    typeof value === 'number' || typeof value === 'bigint' ? undefined : wrongOperand(value, 'number', span);
  if (operator === '<') {
    return (activation) => {
      const value = left(activation);
      return typeof value === 'number' ? value < bound : (wrong(value) ?? (value as bigint) < bound);
    };
  }
  if (operator === '<=') {
    return (activation) => {
      const value = left(activation);
      return typeof value === 'number' ? value <= bound : (wrong(value) ?? (value as bigint) <= bound);
    };
  }
  if (operator === '>') {
    return (activation) => {
      const value = left(activation);
      return typeof value === 'number' ? value > bound : (wrong(value) ?? (value as bigint) > bound);
    };
  }
  return (activation) => {
    const value = left(activation);
    return typeof value === 'number' ? value >= bound : (wrong(value) ?? (value as bigint) >= bound);
  };
}

function planEquality<A>(planner: Planner<A>, node: Binary): Plan<A> {
  const meaning = planner.typed.meanings[node.id];
  if (meaning?.means === 'nothing' && !planner.lenient) return planRow(planner, node);
  const left = planner.plan(node.left);
  const right = planner.plan(node.right);
  const wanted = node.operator === '==';
  const [subject, constant] = left.constant === undefined ? [left, right.constant] : [right, left.constant];
  const simple =
    subject.constant === undefined ? simpleTest(subject, constant, wanted, node.span) : undefined;
  if (simple !== undefined) return running(BOOL, simple);
  if (left.type.kind === 'string' && right.type.kind === 'string' && planner.loops === 0) {
    return folded(planner, running(BOOL, sameStrings(left.run, right.run, wanted, node.span)), [left, right]);
  }
  const run = generalEquality(planner, left, right, wanted, node.span);
  return folded(planner, running(BOOL, run), [left, right]);
}

/** A string, int or bool compared with a constant of the same type. */
function simpleTest<A>(
  plan: Plan<A>,
  constant: Value | undefined,
  wanted: boolean,
  span: Span,
): Evaluate<A> | undefined {
  const { run } = plan;
  const kind = typeof constant;
  if (kind === 'string' && plan.type.kind === 'string') {
    return wanted
      ? (activation) => {
          const value = run(activation);
          return (
            value === constant || (typeof value === 'string' ? false : wrongOperand(value, 'string', span))
          );
        }
      : (activation) => {
          const value = run(activation);
          return (
            value !== constant && (typeof value === 'string' ? true : wrongOperand(value, 'string', span))
          );
        };
  }
  if ((kind === 'number' && plan.type.kind === 'int') || (kind === 'boolean' && plan.type.kind === 'bool')) {
    // Ints are canonical, so a bigint never equals a constant that is a number.
    return (activation) => {
      const value = run(activation);
      if (value === constant) return wanted;
      return typeof value === kind || typeof value === 'bigint'
        ? !wanted
        : wrongOperand(value, 'value of this type', span);
    };
  }
  return undefined;
}

function sameStrings<A>(left: Evaluate<A>, right: Evaluate<A>, wanted: boolean, span: Span): Evaluate<A> {
  return (activation) => {
    const one = left(activation);
    if (typeof one !== 'string') return wrongOperand(one, 'string', span);
    const other = right(activation);
    if (typeof other !== 'string') return wrongOperand(other, 'string', span);
    return (one === other) === wanted;
  };
}

function generalEquality<A>(
  planner: Planner<A>,
  left: Plan<A>,
  right: Plan<A>,
  wanted: boolean,
  span: Span,
): Evaluate<A> {
  const { meter } = planner;
  const exhausted = exhaustedAt(span);
  planner.stateful ||= !(isScalar(left.type) && isScalar(right.type));
  const [runLeft, runRight] = [left.run, right.run];
  return (activation) => {
    const one = runLeft(activation);
    if (one instanceof EvalError) return one;
    const other = runRight(activation);
    if (other instanceof EvalError) return other;
    const same = equalWithin(one, other, meter);
    return same === undefined ? exhausted : same === wanted;
  };
}

/** Whether comparing values of a type never traverses members. */
function isScalar(type: Type): boolean {
  return (
    type.kind !== 'dyn' &&
    type.kind !== 'string' &&
    type.kind !== 'list' &&
    type.kind !== 'map' &&
    type.kind !== 'optional'
  );
}

function planMembership<A>(planner: Planner<A>, node: Binary): Plan<A> {
  const left = planner.plan(node.left);
  const right = planner.plan(node.right);
  const { span } = node;
  if (left.constant === undefined && Array.isArray(right.constant)) {
    const set = keySet(right.constant as readonly Value[]);
    if (set !== undefined) return running(BOOL, inSet(left, set, span));
  }
  if (typeof left.constant === 'string' && right.type.kind === 'map' && right.constant === undefined) {
    const key = right.type.foldsCase === true ? left.constant.toLowerCase() : left.constant;
    return running(BOOL, isSureHeader(right) ? hasHeader(right.run, key) : hasKey(right.run, key, span));
  }
  const isFree = planner.loops === 0 && right.constant === undefined;
  if (isFree && typeof left.constant === 'string' && right.type.kind === 'list') {
    return running(BOOL, holdsString(right.run, left.constant, span));
  }
  planner.stateful = true;
  return folded(planner, running(BOOL, generalMembership(left, right, planner.meter, span)), [left, right]);
}

/** Constant members as a set of lookup keys; undefined if some have none (lists, timestamps, NaN, null). */
function keySet(members: readonly Value[]): ReadonlySet<CanonicalKey | undefined> | undefined {
  const keys = members.map(canonicalKey);
  // A double with a fraction has no key but can equal another double.
  if (keys.includes(undefined) || members.some((member) => member instanceof Double)) return undefined;
  return new Set(keys);
}

function inSet<A>(left: Plan<A>, set: ReadonlySet<CanonicalKey | undefined>, span: Span): Evaluate<A> {
  const { run } = left;
  if (left.type.kind === 'string') {
    return (activation) => {
      const value = run(activation);
      return typeof value === 'string' ? set.has(value) : wrongOperand(value, 'string', span);
    };
  }
  return (activation) => {
    const value = run(activation);
    return value instanceof EvalError ? value : set.has(canonicalKey(value));
  };
}

function hasHeader<A>(right: Evaluate<A>, key: string): Evaluate<A> {
  return (activation) => (right(activation) as StringMap)[key] !== undefined;
}

function hasKey<A>(right: Evaluate<A>, key: string, span: Span): Evaluate<A> {
  return (activation) => {
    const map = right(activation);
    if (map instanceof CelMap) return map.slots.has(key);
    if (map instanceof EvalError) return map;
    if (typeof map !== 'object' || map === null)
      return errorOf('expr.no_such_overload', 'this is not a map', span);
    return (map as StringMap)[key] !== undefined;
  };
}

/** Strings only equal strings, so JavaScript's own search is correct. */
function holdsString<A>(right: Evaluate<A>, text: string, span: Span): Evaluate<A> {
  return (activation) => {
    const list = right(activation);
    return Array.isArray(list) ? list.includes(text) : wrongOperand(list, 'list', span);
  };
}

function generalMembership<A>(left: Plan<A>, right: Plan<A>, meter: Meter, span: Span): Evaluate<A> {
  const [runLeft, runRight] = [left.run, right.run];
  const exhausted = exhaustedAt(span);
  return (activation) => {
    const value = runLeft(activation);
    if (value instanceof EvalError) return value;
    const container = runRight(activation);
    if (container instanceof EvalError) return container;
    if (!Array.isArray(container) && !isMap(container)) {
      return errorOf('expr.no_such_overload', '`in` needs a list or a map', span);
    }
    return memberWithin(value, container, meter) ?? exhausted;
  };
}
