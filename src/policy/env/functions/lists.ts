import { equalWithin } from '../../../cel/equality.ts';
import { type FunctionRow, type Loop, type MacroRow, func, overload } from '../../../cel/function_table.ts';
import { EVALUATION_BUDGET, type Meter } from '../../../cel/limits.ts';
import { compareValues } from '../../../cel/ordering.ts';
import { DYN, INT, type Type, list, parameter } from '../../../cel/types.ts';
import { EvalError, type Outcome, type Value, fail, isList, typeName } from '../../../cel/values.ts';

type Int = number | bigint;

/** Maximum length of a list from `lists.range`. */
const RANGE_LIMIT = 100_000;
const FLATTEN_LIMIT = 100_000;

function slice(values: readonly Value[], from: Int, to: Int): readonly Value[] | EvalError {
  const isInside = from >= 0 && to <= values.length && from <= to;
  return isInside
    ? values.slice(Number(from), Number(to))
    : fail('expr.index_out_of_range', `a list of ${values.length} has no slice from ${from} to ${to}`);
}

function flatten(values: readonly Value[], depth: Int): readonly Value[] | EvalError {
  if (depth < 0) return fail('expr.invalid_argument', 'the depth of flatten cannot be negative');
  const flat: Value[] = [];
  return flattenInto(flat, values, Number(depth))
    ? flat
    : fail('expr.limit_exceeded', `the flattened list has more than ${FLATTEN_LIMIT} elements`);
}

/** Lists with shared members can be far larger flat than in memory: empty ones are counted too. */
function flattenInto(
  flat: Value[],
  values: readonly Value[],
  depth: number,
  budget = { left: FLATTEN_LIMIT },
): boolean {
  for (const value of values) {
    budget.left -= 1;
    if (budget.left < 0) return false;
    if (depth === 0 || !isList(value)) flat.push(value);
    else if (!flattenInto(flat, value, depth - 1, budget)) return false;
  }
  return true;
}

function range(length: Int): readonly Value[] | EvalError {
  if (length < 0) return fail('expr.invalid_argument', 'the length of a list cannot be negative');
  if (length > RANGE_LIMIT) {
    return fail('expr.limit_exceeded', `lists.range() creates at most ${RANGE_LIMIT} elements`);
  }
  return Array.from({ length: Number(length) }, (_, index) => index);
}

/** Unique elements, in order of first appearance. */
function distinct(values: readonly Value[]): readonly Value[] | EvalError {
  const plain = new Set<Value>();
  const others: Value[] = [];
  const kept: Value[] = [];
  const meter: Meter = { left: EVALUATION_BUDGET };
  for (const value of values) {
    if (isHashable(value)) {
      if (plain.has(value)) continue;
      plain.add(value);
    } else {
      const isKnown = others.some((other) => equalWithin(other, value, meter) === true);
      if (meter.left < 0) return fail('expr.budget_exceeded', 'there are too many elements to compare');
      if (isKnown) continue;
      others.push(value);
    }
    kept.push(value);
  }
  return kept;
}

/** Whether `===` equals CEL equality for all such values. Ints could equal doubles. */
function isHashable(value: Value): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null;
}

const distinctCost = (values: readonly Value[]): number => {
  let others = 0;
  for (const value of values) if (!isHashable(value)) others++;
  return values.length + (others * others) / 4;
};

/** Number of comparisons of a merge sort. */
function sortCost(values: readonly Value[]): number {
  return values.length * Math.ceil(Math.log2(values.length + 1));
}

/** All elements need one type that has an order, also where there is nothing to compare. */
function sort(values: readonly Value[]): readonly Value[] | EvalError {
  const [first] = values;
  if (first === undefined) return values;
  const order = inOrder(first, first);
  if (order instanceof EvalError) return order;
  const type = typeName(first);
  return values.every((value) => typeName(value) === type)
    ? mergeSort(values, inOrder)
    : fail('expr.no_such_overload', 'only elements of one type can be sorted');
}

/** Whether the left one can stay before the right one. */
function inOrder(left: Value, right: Value): boolean | EvalError {
  const order = compareValues(left, right);
  return order === undefined || Number.isNaN(order)
    ? fail('expr.no_such_overload', 'only values with an order can be sorted')
    : order <= 0;
}

type Compare<T> = (left: T, right: T) => boolean | EvalError;

/** Stable; an error of the comparison ends it, which `Array.sort` could only do with an exception. */
function mergeSort<T>(values: readonly T[], mayPrecede: Compare<T>): readonly T[] | EvalError {
  if (values.length < 2) return values;
  const middle = values.length >>> 1;
  const left = mergeSort(values.slice(0, middle), mayPrecede);
  if (left instanceof EvalError) return left;
  const right = mergeSort(values.slice(middle), mayPrecede);
  if (right instanceof EvalError) return right;
  const merged: T[] = [];
  let next = 0;
  for (const value of left) {
    while (next < right.length) {
      const stays = mayPrecede(value, right[next]!);
      if (stays instanceof EvalError) return stays;
      if (stays) break;
      merged.push(right[next++]!);
    }
    merged.push(value);
  }
  for (; next < right.length; next++) merged.push(right[next]!);
  return merged;
}

function target<A>(loop: Loop<A>, activation: A): readonly Value[] | EvalError {
  const values = loop.target(activation);
  if (values instanceof EvalError) return values;
  return isList(values) ? values : loop.error('expr.no_such_overload', 'only lists can be sorted');
}

/** `sort(x, y, condition)`: the condition tells whether x comes before y. */
function planSort<A>(loop: Loop<A>): (activation: A) => Outcome {
  const [left, right] = loop.variables as [Loop<A>['variables'][0], Loop<A>['variables'][0]];
  const body = loop.bodies[0]!;
  return (activation) => {
    const values = target(loop, activation);
    if (values instanceof EvalError) return values;
    if (!loop.charge(sortCost(values) * loop.turnCost)) return loop.exhausted;
    const isBefore = (one: Value, other: Value): boolean | EvalError => {
      left.value = one;
      right.value = other;
      const answer = body(activation);
      if (typeof answer === 'boolean') return answer;
      return answer instanceof EvalError
        ? answer
        : loop.error('expr.no_such_overload', 'the condition is not a bool');
    };
    // Stays unless the right one is strictly smaller: equal elements keep their order.
    return mergeSort(values, (one, other) => {
      const isAfter = isBefore(other, one);
      return isAfter instanceof EvalError ? isAfter : !isAfter;
    });
  };
}

interface Keyed {
  readonly value: Value;
  readonly key: Value;
}

function planSortBy<A>(loop: Loop<A>): (activation: A) => Outcome {
  const variable = loop.variables[0]!;
  const body = loop.bodies[0]!;
  return (activation) => {
    const values = target(loop, activation);
    if (values instanceof EvalError) return values;
    if (!loop.charge(values.length * loop.turnCost + sortCost(values))) return loop.exhausted;
    const keyed: Keyed[] = [];
    for (const value of values) {
      variable.value = value;
      const key = body(activation);
      if (key instanceof EvalError) return key;
      keyed.push({ value, key });
    }
    const sorted = mergeSort(keyed, (one, other) => inOrder(one.key, other.key));
    return sorted instanceof EvalError ? sorted : sorted.map((one) => one.value);
  };
}

const T = parameter('T');
const TS = list(T);
const sameList = (type: Type): Type => (type.kind === 'list' ? type : list(DYN));

export const LIST_MACROS: readonly MacroRow[] = [
  {
    kind: 'macro',
    name: 'sort',
    doc: 'The sorted list: the condition tells whether the first element comes before the second.',
    example: '[1, 3, 2].sort(x, y, x > y) == [3, 2, 1]',
    variables: 2,
    bodies: 1,
    variableTypes: (type) => (type.kind === 'list' ? [type.element, type.element] : undefined),
    conditions: [0],
    result: sameList,
    plan: planSort,
  },
  {
    kind: 'macro',
    name: 'sortBy',
    doc: "The list sorted by the expression's value for each element, ascending.",
    example: "['bb', 'a'].sortBy(x, size(x)) == ['a', 'bb']",
    variables: 1,
    bodies: 1,
    variableTypes: (type) => (type.kind === 'list' ? [type.element] : undefined),
    result: sameList,
    plan: planSortBy,
  },
];

/** List methods that the language does not have. */
export const LIST_FUNCTIONS: readonly FunctionRow[] = [
  func('slice', 'Elements from a position up to another (exclusive).', '[1, 2, 3].slice(1, 3) == [2, 3]', [
    overload({
      id: 'list_slice',
      style: 'method',
      params: [TS, INT, INT],
      result: TS,
      cost: (values) => values.length,
      call: slice,
    }),
  ]),
  func(
    'flatten',
    'The list with inner lists flattened, one level deep or as deep as given.',
    '[1, [2, [3]]].flatten() == [1, 2, [3]]',
    [
      overload({
        id: 'list_flatten',
        style: 'method',
        params: [list(DYN)],
        result: list(DYN),
        cost: (values) => values.length,
        call: (values) => flatten(values, 1),
      }),
      overload({
        id: 'list_flatten_int',
        style: 'method',
        params: [list(DYN), INT],
        result: list(DYN),
        cost: (values) => values.length,
        call: flatten,
      }),
    ],
  ),
  func('sort', 'The sorted elements, ascending; they must be comparable.', '[3, 1, 2].sort() == [1, 2, 3]', [
    overload({ id: 'list_sort', style: 'method', params: [TS], result: TS, cost: sortCost, call: sort }),
  ]),
  func(
    'distinct',
    'Unique elements, in order of first appearance.',
    "['a', 'b', 'a'].distinct() == ['a', 'b']",
    [
      overload({
        id: 'list_distinct',
        style: 'method',
        params: [TS],
        result: TS,
        cost: distinctCost,
        call: distinct,
      }),
    ],
  ),
  func('lists.range', 'Integers from 0 up to a number (exclusive).', 'lists.range(3) == [0, 1, 2]', [
    overload({
      id: 'lists_range',
      style: 'global',
      params: [INT],
      result: list(INT),
      cost: (length) => Math.max(0, Math.min(RANGE_LIMIT, Number(length))),
      call: range as never,
    }),
  ]),
];
