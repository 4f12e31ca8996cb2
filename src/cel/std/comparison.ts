import { equalWithin, memberWithin } from '../equality.ts';
import { type FunctionRow, type Overload, func, overload } from '../function_table.ts';
import { CHARACTERS_PER_UNIT, EVALUATION_BUDGET } from '../limits.ts';
import { compareValues } from '../ordering.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  list,
  map,
  parameter,
  STRING,
  TIMESTAMP,
  UINT,
} from '../types.ts';
import type { Type } from '../types.ts';
import { type EvalError, type MapValue, type Value, fail } from '../values.ts';

const ORDERED: readonly (readonly [name: string, left: Type, right: Type])[] = [
  ['int64', INT, INT],
  ['string', STRING, STRING],
  ['double', DOUBLE, DOUBLE],
  ['uint64', UINT, UINT],
  ['bool', BOOL, BOOL],
  ['bytes', BYTES, BYTES],
  ['timestamp', TIMESTAMP, TIMESTAMP],
  ['duration', DURATION, DURATION],
  ['int64_double', INT, DOUBLE],
  ['int64_uint64', INT, UINT],
  ['uint64_double', UINT, DOUBLE],
  ['uint64_int64', UINT, INT],
  ['double_int64', DOUBLE, INT],
  ['double_uint64', DOUBLE, UINT],
];

/** The cost of comparing two strings is that of the shorter. */
function shorter(left: Value, right: Value): number {
  return Math.min((left as string).length, (right as string).length) / CHARACTERS_PER_UNIT;
}

function ordering(id: string, holds: (order: number) => boolean): Overload[] {
  const call = (left: Value, right: Value): boolean | EvalError => {
    const order = compareValues(left, right);
    return order === undefined
      ? fail('expr.no_such_overload', 'these two values have no order')
      : holds(order);
  };
  const base: Pick<Overload, 'style' | 'result' | 'pure' | 'call'> = {
    style: 'global',
    result: BOOL,
    pure: true,
    call,
  };
  return ORDERED.map(([name, left, right]): Overload => {
    const own = { id: `${id}_${name}`, params: [left, right] };
    return left.kind === 'string'
      ? Object.assign({ cost: shorter }, base, own)
      : Object.assign({}, base, own);
  });
}

// Only constants are compared with the rows below; the planner compares everything else with a meter.
function equality(left: Value, right: Value): boolean {
  return equalWithin(left, right, { left: EVALUATION_BUDGET }) === true;
}

function membership(value: Value, container: readonly Value[] | MapValue): boolean {
  return memberWithin(value, container, { left: EVALUATION_BUDGET }) === true;
}

const T = parameter('T');

/** Comparison operators: rows whose names are the operators themselves. */
export const COMPARISON: readonly FunctionRow[] = [
  func(
    '==',
    'Whether two values are equal; numbers by value, lists and maps by their members.',
    '[1] == [1]',
    [overload({ id: 'equals', style: 'global', params: [T, T], result: BOOL, call: equality })],
  ),
  func('!=', 'Whether two values differ.', "'a' != 'A'", [
    overload({
      id: 'not_equals',
      style: 'global',
      params: [T, T],
      result: BOOL,
      call: (a, b) => !equality(a, b),
    }),
  ]),
  func(
    '<',
    'Whether the left side is smaller; strings by code point, false before true.',
    '1 < 2',
    ordering('less', (order) => order < 0),
  ),
  func(
    '<=',
    'Whether the left side is smaller or equal.',
    '1 <= 1',
    ordering('less_equals', (order) => order <= 0),
  ),
  func(
    '>',
    'Whether the left side is greater.',
    '2 > 1',
    ordering('greater', (order) => order > 0),
  ),
  func(
    '>=',
    'Whether the left side is greater or equal.',
    '1 >= 1',
    ordering('greater_equals', (order) => order >= 0),
  ),
  func(
    'in',
    'Whether a list contains an equal value, or a map has the key. Strings are compared as a whole.',
    '1 in [1, 2]',
    [
      overload({ id: 'in_list', style: 'global', params: [T, list(T)], result: BOOL, call: membership }),
      overload({ id: 'in_map', style: 'global', params: [T, map(T, DYN)], result: BOOL, call: membership }),
    ],
  ),
];
