import { type FunctionRow, type Overload, func, overload } from '../function_table.ts';
import { double, intOf } from '../numbers.ts';
import { compareValues } from '../ordering.ts';
import { type Carries, type Type, BOOL, DOUBLE, DYN, INT, list, UINT } from '../types.ts';
import { type EvalError, type Value, canonicalInt, Double, fail, Uint, UINT64_MAX } from '../values.ts';

type Int = number | bigint;

/** The extreme of some numbers; the first of equal ones. A NaN is never preferred to a number. */
function extreme(values: readonly Value[], sign: 1 | -1): Value | EvalError {
  let best: Value | undefined;
  for (const value of values) {
    const isNumber =
      typeof value === 'number' ||
      typeof value === 'bigint' ||
      value instanceof Double ||
      value instanceof Uint;
    if (!isNumber) return fail('expr.no_such_overload', 'only numbers can be compared here');
    if (best === undefined || (compareValues(value, best) ?? 0) * sign > 0) best = value;
  }
  return best ?? fail('expr.invalid_argument', 'the list has no numbers');
}

function extremes(id: string, sign: 1 | -1): Overload[] {
  const rows = [INT, DOUBLE, UINT, DYN].flatMap((type: Type): Overload[] => [
    {
      id: `${id}_${type.kind}`,
      style: 'global',
      params: [type],
      variadic: true,
      result: type,
      pure: true,
      call: (...values) => extreme(values, sign),
    },
    {
      id: `${id}_list_${type.kind}`,
      style: 'global',
      params: [list(type)],
      result: type,
      pure: true,
      cost: (values) => (values as readonly Value[]).length,
      call: (values) => extreme(values as readonly Value[], sign),
    },
  ]);
  // Lists before all others, so that a list is not treated as a single argument of any type.
  return rows.toSorted(
    (left, right) => Number(right.params[0]?.kind === 'list') - Number(left.params[0]?.kind === 'list'),
  );
}

function rounding(name: string, doc: string, example: string, call: (value: number) => number): FunctionRow {
  return func(`math.${name}`, doc, example, [
    overload({
      id: `math_${name}_double`,
      style: 'global',
      params: [DOUBLE],
      result: DOUBLE,
      call: (value) => double(call(value.value)),
    }),
  ]);
}

function test(name: string, doc: string, example: string, call: (value: number) => boolean): FunctionRow {
  return func(`math.${name}`, doc, example, [
    overload({
      id: `math_${name}_double`,
      style: 'global',
      params: [DOUBLE],
      result: BOOL,
      call: (value) => call(value.value),
    }),
  ]);
}

/** Ties away from zero, as in Go's math.Round. */
function round(value: number): number {
  const size = Math.abs(value);
  const whole = Math.floor(size);
  return Math.sign(value) * (size - whole >= 0.5 ? whole + 1 : whole);
}

function same(id: string, type: Type): Overload {
  return { id, style: 'global', params: [type], result: type, pure: true, call: (value) => value };
}

const toUint = (exact: bigint): Uint => new Uint(canonicalInt(BigInt.asUintN(64, exact)));
const toInt = (exact: bigint): Int => canonicalInt(BigInt.asIntN(64, exact));

function bitwise(
  name: string,
  doc: string,
  example: string,
  call: (left: bigint, right: bigint) => bigint,
): FunctionRow {
  return func(`math.${name}`, doc, example, [
    overload({
      id: `math_${name}_int_int`,
      style: 'global',
      params: [INT, INT],
      result: INT,
      call: (a, b) => toInt(call(BigInt(a), BigInt(b))),
    }),
    overload({
      id: `math_${name}_uint_uint`,
      style: 'global',
      params: [UINT, UINT],
      result: UINT,
      call: (a, b) => toUint(call(BigInt(a.value), BigInt(b.value))),
    }),
  ]);
}

/** Shifts by 64 or more give 0; right shifts insert zeros, also for negative ints. */
function shift(
  name: string,
  doc: string,
  example: string,
  call: (value: bigint, by: bigint) => bigint,
): FunctionRow {
  const shifted = <R>(bits: bigint, by: Int, result: (exact: bigint) => R): R | EvalError => {
    if (by < 0) return fail('expr.invalid_argument', 'a shift cannot be negative');
    return result(by >= 64 ? 0n : call(bits & UINT64_MAX, BigInt(by)));
  };
  const pair = <T>(type: Carries<T>, run: (value: T, by: Int) => T | EvalError): Overload =>
    ({
      id: `math_${name}_${type.kind}_int`,
      style: 'global',
      params: [type, INT],
      result: type,
      pure: true,
      call: run,
    }) as unknown as Overload;
  return func(`math.${name}`, doc, example, [
    pair(INT, (value, by) => shifted(BigInt(value), by, toInt)),
    pair(UINT, (value, by) => shifted(BigInt(value.value), by, toUint)),
  ]);
}

/** The math extension. */
export const MATH: readonly FunctionRow[] = [
  func(
    'math.greatest',
    'The maximum of some numbers or of a list.',
    'math.greatest(1, 2.5, 2) == 2.5',
    extremes('math_greatest', 1),
  ),
  func(
    'math.least',
    'The minimum of some numbers or of a list.',
    'math.least([3, 1, 2]) == 1',
    extremes('math_least', -1),
  ),
  rounding('ceil', 'The number rounded up to an integer.', 'math.ceil(1.2) == 2.0', Math.ceil),
  rounding('floor', 'The number rounded down to an integer.', 'math.floor(1.8) == 1.0', Math.floor),
  rounding(
    'round',
    'The number rounded to the nearest integer, halves away from zero.',
    'math.round(-1.5) == -2.0',
    round,
  ),
  rounding('trunc', 'The number truncated to an integer.', 'math.trunc(-1.8) == -1.0', Math.trunc),
  func('math.abs', 'The absolute value.', 'math.abs(-3) == 3', [
    overload({
      id: 'math_abs_int',
      style: 'global',
      params: [INT],
      result: INT,
      call: (value) => (typeof value === 'number' ? Math.abs(value) : intOf(value < 0n ? -value : value)),
    }),
    overload({
      id: 'math_abs_double',
      style: 'global',
      params: [DOUBLE],
      result: DOUBLE,
      call: (value) => double(Math.abs(value.value)),
    }),
    same('math_abs_uint', UINT),
  ]),
  func('math.sign', 'The sign: -1, 0 or 1.', 'math.sign(-3) == -1', [
    overload({
      id: 'math_sign_int',
      style: 'global',
      params: [INT],
      result: INT,
      call: (value) => (value > 0 ? 1 : value < 0 ? -1 : 0),
    }),
    overload({
      id: 'math_sign_double',
      style: 'global',
      params: [DOUBLE],
      result: DOUBLE,
      call: (value) => double(Math.sign(value.value)),
    }),
    overload({
      id: 'math_sign_uint',
      style: 'global',
      params: [UINT],
      result: UINT,
      call: (value) => new Uint(value.value > 0 ? 1 : 0),
    }),
  ]),
  func('math.sqrt', 'The square root; NaN for negative numbers.', 'math.sqrt(9) == 3.0', [
    overload({
      id: 'math_sqrt_int',
      style: 'global',
      params: [INT],
      result: DOUBLE,
      call: (value) => double(Math.sqrt(Number(value))),
    }),
    overload({
      id: 'math_sqrt_double',
      style: 'global',
      params: [DOUBLE],
      result: DOUBLE,
      call: (value) => double(Math.sqrt(value.value)),
    }),
    overload({
      id: 'math_sqrt_uint',
      style: 'global',
      params: [UINT],
      result: DOUBLE,
      call: (value) => double(Math.sqrt(Number(value.value))),
    }),
  ]),
  test('isNaN', 'Whether a double is not a number.', "math.isNaN(double('NaN'))", Number.isNaN),
  test(
    'isInf',
    'Whether a double is infinite.',
    'math.isInf(1.0 / 0.0)',
    (value) => Math.abs(value) === Infinity,
  ),
  test('isFinite', 'Whether a double is neither infinite nor NaN.', 'math.isFinite(1.5)', Number.isFinite),
  bitwise('bitAnd', 'Bitwise and.', 'math.bitAnd(6, 3) == 2', (a, b) => a & b),
  bitwise('bitOr', 'Bitwise or.', 'math.bitOr(4, 1) == 5', (a, b) => a | b),
  bitwise('bitXor', 'Bitwise exclusive or.', 'math.bitXor(6, 3) == 5', (a, b) => a ^ b),
  func('math.bitNot', 'Bitwise complement.', 'math.bitNot(0) == -1', [
    overload({
      id: 'math_bitNot_int',
      style: 'global',
      params: [INT],
      result: INT,
      call: (value) => toInt(~BigInt(value)),
    }),
    overload({
      id: 'math_bitNot_uint',
      style: 'global',
      params: [UINT],
      result: UINT,
      call: (value) => toUint(~BigInt(value.value)),
    }),
  ]),
  shift('bitShiftLeft', 'Bits shifted left.', 'math.bitShiftLeft(1, 4) == 16', (value, by) => value << by),
  shift(
    'bitShiftRight',
    'Bits shifted right; zeros are inserted on the left.',
    'math.bitShiftRight(16, 4) == 1',
    (value, by) => value >> by,
  ),
];
