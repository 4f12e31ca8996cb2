import type { Span } from '../../diagnostics/diagnostic.ts';
import type { ListNode, MapNode } from '../ast.ts';
import type { Evaluate } from '../function_table.ts';
import { canonicalKey, CelMap, Double, EvalError, Optional, typeName } from '../values.ts';
import type { CanonicalKey, Outcome, Value } from '../values.ts';
import { type Plan, type Planner, errorOf, folded, running, typeOfNode } from './plan.ts';

interface Item<A> {
  readonly run: Evaluate<A>;
  /** Written with `?`. */
  readonly optional: boolean;
  readonly span: Span;
}

export function planList<A>(planner: Planner<A>, node: ListNode): Plan<A> {
  const plans = node.elements.map((element) => planner.plan(element.node));
  const items: Item<A>[] = node.elements.map((element, index) => ({
    run: plans[index]!.run,
    optional: element.optional,
    span: element.node.span,
  }));
  return folded(planner, running(typeOfNode(planner, node), makeList(items)), plans);
}

function makeList<A>(items: readonly Item<A>[]): Evaluate<A> {
  return (activation) => {
    const values: Value[] = [];
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index]!;
      const value = item.run(activation);
      if (value instanceof EvalError) return value;
      if (!item.optional) {
        values.push(value);
        continue;
      }
      if (!(value instanceof Optional)) return notOptional(item.span);
      if (value.value !== undefined) values.push(value.value);
    }
    return values;
  };
}

function notOptional(span: Span): EvalError {
  return errorOf('expr.no_such_overload', 'after `?` an optional is needed', span);
}

export function planMap<A>(planner: Planner<A>, node: MapNode): Plan<A> {
  const keys = node.entries.map((entry) => planner.plan(entry.key));
  const values = node.entries.map((entry) => planner.plan(entry.value));
  const items: Item<A>[] = node.entries.map((entry, index) => ({
    run: values[index]!.run,
    optional: entry.optional,
    span: entry.key.span,
  }));
  const run = makeMap(
    keys.map((key) => key.run),
    items,
  );
  return folded(planner, running(typeOfNode(planner, node), run), [...keys, ...values]);
}

function makeMap<A>(keys: readonly Evaluate<A>[], items: readonly Item<A>[]): Evaluate<A> {
  return (activation): Outcome => {
    const slots = new Map<CanonicalKey, readonly [Value, Value]>();
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index]!;
      const key = keys[index]!(activation);
      if (key instanceof EvalError) return key;
      const canonical = key instanceof Double ? undefined : canonicalKey(key);
      if (canonical === undefined) {
        return errorOf('expr.no_such_overload', `a ${typeName(key)} cannot be a map key`, item.span);
      }
      if (slots.has(canonical)) return errorOf('expr.duplicate_key', 'duplicate map key', item.span);
      const value = item.run(activation);
      if (value instanceof EvalError) return value;
      if (!item.optional) slots.set(canonical, [key, value]);
      else if (!(value instanceof Optional)) return notOptional(item.span);
      else if (value.value !== undefined) slots.set(canonical, [key, value.value]);
    }
    return new CelMap(slots);
  };
}
