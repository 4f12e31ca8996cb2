import { canonicalInt, Double, fail, INT64_MAX, INT64_MIN, Uint, UINT64_MAX } from './values.ts';
import type { EvalError } from './values.ts';

/** An int as run-time value: `number` if safe, otherwise `bigint` (`values.ts`). */
export type Int = number | bigint;

const SAFE = Number.MAX_SAFE_INTEGER;

/** The int of an exact result, or an overflow error (language definition, Overflow). */
export function intOf(exact: bigint): Int | EvalError {
  return exact < INT64_MIN || exact > INT64_MAX
    ? fail('expr.overflow', 'the result is beyond the range of int')
    : canonicalInt(exact);
}

export function uintOf(exact: bigint): Uint | EvalError {
  return exact < 0n || exact > UINT64_MAX
    ? fail('expr.overflow', 'the result is beyond the range of uint')
    : new Uint(canonicalInt(exact));
}

/** Whether a result is exact as a number; adding 0 turns -0 into 0, because ints have no -0. */
function isSafe(result: number): boolean {
  return result <= SAFE && result >= -SAFE;
}

export function addInt(left: Int, right: Int): Int | EvalError {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (isSafe(sum)) return sum;
  }
  return intOf(BigInt(left) + BigInt(right));
}

export function subtractInt(left: Int, right: Int): Int | EvalError {
  if (typeof left === 'number' && typeof right === 'number') {
    const difference = left - right;
    if (isSafe(difference)) return difference;
  }
  return intOf(BigInt(left) - BigInt(right));
}

export function multiplyInt(left: Int, right: Int): Int | EvalError {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    if (isSafe(product)) return product + 0;
  }
  return intOf(BigInt(left) * BigInt(right));
}

export function divideInt(left: Int, right: Int): Int | EvalError {
  if (right === 0) return fail('expr.divide_by_zero', 'division by zero');
  if (typeof left === 'number' && typeof right === 'number') return Math.trunc(left / right) + 0;
  return intOf(BigInt(left) / BigInt(right));
}

export function remainderInt(left: Int, right: Int): Int | EvalError {
  if (right === 0) return fail('expr.divide_by_zero', 'remainder of a division by zero');
  if (typeof left === 'number' && typeof right === 'number') return (left % right) + 0;
  return intOf(BigInt(left) % BigInt(right));
}

export function negateInt(value: Int): Int | EvalError {
  return typeof value === 'number' ? 0 - value : intOf(-value);
}

export function addUint(left: Uint, right: Uint): Uint | EvalError {
  return uintOf(BigInt(left.value) + BigInt(right.value));
}

export function subtractUint(left: Uint, right: Uint): Uint | EvalError {
  return uintOf(BigInt(left.value) - BigInt(right.value));
}

export function multiplyUint(left: Uint, right: Uint): Uint | EvalError {
  return uintOf(BigInt(left.value) * BigInt(right.value));
}

export function divideUint(left: Uint, right: Uint): Uint | EvalError {
  if (right.value === 0) return fail('expr.divide_by_zero', 'division by zero');
  return uintOf(BigInt(left.value) / BigInt(right.value));
}

export function remainderUint(left: Uint, right: Uint): Uint | EvalError {
  if (right.value === 0) return fail('expr.divide_by_zero', 'remainder of a division by zero');
  return uintOf(BigInt(left.value) % BigInt(right.value));
}

/** Truncates; errors for NaN, infinities and doubles that int64 cannot safely represent (such as ±2^63). */
export function doubleToInt(value: number): Int | EvalError {
  const whole = Math.trunc(value);
  if (!(whole > -(2 ** 63) && whole < 2 ** 63))
    return fail('expr.overflow', 'the double is beyond the range of int');
  return canonicalInt(BigInt(whole));
}

export function doubleToUint(value: number): Uint | EvalError {
  const whole = Math.trunc(value);
  if (!(whole >= 0 && whole < 2 ** 64))
    return fail('expr.overflow', 'the double is beyond the range of uint');
  return new Uint(canonicalInt(BigInt(whole)));
}

/**
 * Formats a double as Go's `%g` does: the shortest digits that parse back, with an exponent below 1e-4 and from
 * 1e6 on.
 */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return plainDigits(digits, exponent);
  const size = Math.abs(exponent);
  return `${digits}e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`;
}

/** Formats a finite double without an exponent: `1250000`, `0.00001`. */
export function formatPlain(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  return Object.is(value, -0) ? '-0' : plainDigits(digits, Number(exponent));
}

/** `1.25`, 3 as `1250`. */
function plainDigits(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace('-', '').replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0');
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

export function double(value: number): Double {
  return new Double(value);
}
