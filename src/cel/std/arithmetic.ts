import { type FunctionRow, type Overload, func, overload } from '../function_table.ts';
import {
  addInt,
  addUint,
  divideInt,
  divideUint,
  double,
  multiplyInt,
  multiplyUint,
  negateInt,
  remainderInt,
  remainderUint,
  subtractInt,
  subtractUint,
} from '../numbers.ts';
import { CHARACTERS_PER_UNIT } from '../limits.ts';
import {
  addDurations,
  betweenTimestamps,
  negateDuration,
  shiftTimestamp,
  subtractDurations,
} from '../time.ts';
import { BYTES, DOUBLE, DURATION, INT, list, parameter, STRING, TIMESTAMP, UINT } from '../types.ts';
import type { Carries } from '../types.ts';
import type { Double, EvalError, Uint } from '../values.ts';

type Int = number | bigint;

function ints(id: string, call: (left: Int, right: Int) => Int | EvalError): Overload {
  return overload({ id: `${id}_int64`, style: 'global', params: [INT, INT], result: INT, call });
}

function uints(id: string, call: (left: Uint, right: Uint) => Uint | EvalError): Overload {
  return overload({ id: `${id}_uint64`, style: 'global', params: [UINT, UINT], result: UINT, call });
}

function doubles(id: string, call: (left: number, right: number) => number): Overload {
  const boxed = (left: Double, right: Double): Double => double(call(left.value, right.value));
  return overload({
    id: `${id}_double`,
    style: 'global',
    params: [DOUBLE, DOUBLE],
    result: DOUBLE,
    call: boxed,
  });
}

function pair<L, R, X>(
  id: string,
  [left, right, result]: readonly [Carries<L>, Carries<R>, Carries<X>],
  call: (left: L, right: R) => X | EvalError,
  cost?: (left: L, right: R) => number,
): Overload {
  const row = { id, style: 'global', params: [left, right], result, pure: true, call } as const;
  return (cost === undefined ? row : { ...row, cost }) as unknown as Overload;
}

const T = parameter('T');

/** Arithmetic operators: rows whose names are the operators themselves. */
export const ARITHMETIC: readonly FunctionRow[] = [
  func(
    '+',
    'Sum of numbers, durations and timestamps; concatenation of strings, bytes or lists.',
    '1 + 2 == 3',
    [
      ints('add', addInt),
      pair(
        'add_string',
        [STRING, STRING, STRING],
        (a, b) => a + b,
        (a, b) => (a.length + b.length) / CHARACTERS_PER_UNIT,
      ),
      doubles('add', (a, b) => a + b),
      uints('add', addUint),
      pair(
        'add_list',
        [list(T), list(T), list(T)],
        (a, b) => [...a, ...b],
        (a, b) => a.length + b.length,
      ),
      pair(
        'add_bytes',
        [BYTES, BYTES, BYTES],
        joinBytes,
        (a, b) => (a.length + b.length) / CHARACTERS_PER_UNIT,
      ),
      pair('add_timestamp_duration', [TIMESTAMP, DURATION, TIMESTAMP], (a, b) => shiftTimestamp(a, b)),
      pair('add_duration_timestamp', [DURATION, TIMESTAMP, TIMESTAMP], (a, b) => shiftTimestamp(b, a)),
      pair('add_duration_duration', [DURATION, DURATION, DURATION], addDurations),
    ],
  ),
  func('-', 'Difference of numbers, durations and timestamps.', '3 - 2 == 1', [
    ints('subtract', subtractInt),
    doubles('subtract', (a, b) => a - b),
    uints('subtract', subtractUint),
    pair('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP, DURATION], betweenTimestamps),
    pair('subtract_timestamp_duration', [TIMESTAMP, DURATION, TIMESTAMP], (a, b) => {
      const back = negateDuration(b);
      return 'code' in back ? back : shiftTimestamp(a, back);
    }),
    pair('subtract_duration_duration', [DURATION, DURATION, DURATION], subtractDurations),
  ]),
  func('*', 'Product.', '2 * 3 == 6', [
    ints('multiply', multiplyInt),
    doubles('multiply', (a, b) => a * b),
    uints('multiply', multiplyUint),
  ]),
  func('/', 'Quotient; for ints, truncated towards zero.', '7 / 2 == 3', [
    ints('divide', divideInt),
    doubles('divide', (a, b) => a / b),
    uints('divide', divideUint),
  ]),
  func('%', 'Remainder of ints, with the sign of the left side.', '7 % 2 == 1', [
    ints('modulo', remainderInt),
    uints('modulo', remainderUint),
  ]),
  func('-_', 'Negation.', '-(1) == 0 - 1', [
    overload({ id: 'negate_int64', style: 'global', params: [INT], result: INT, call: negateInt }),
    overload({
      id: 'negate_double',
      style: 'global',
      params: [DOUBLE],
      result: DOUBLE,
      call: (value) => double(-value.value),
    }),
  ]),
];

function joinBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left, 0);
  joined.set(right, left.length);
  return joined;
}
