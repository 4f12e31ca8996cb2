import { type Value, Double, Duration, Timestamp, Uint } from './values.ts';

/**
 * Negative, zero or positive if `left` is before, equal to or after `right`; NaN if one is NaN; undefined if
 * the two have no order. Numbers of all kinds compare by value (language definition, Ordering).
 */
export function compareValues(left: Value, right: Value): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string') return typeof right === 'string' ? compareStrings(left, right) : undefined;
  const one = numberOf(left);
  if (one !== undefined) {
    const other = numberOf(right);
    if (other === undefined) return undefined;
    // Compared with a double, an integer is converted to the nearest double, as in cel-go.
    const inDoubles = left instanceof Double || right instanceof Double;
    return inDoubles ? compareNumbers(Number(one), Number(other)) : compareNumbers(one, other);
  }
  if (typeof left === 'boolean') return typeof right === 'boolean' ? Number(left) - Number(right) : undefined;
  if (left instanceof Uint8Array) return right instanceof Uint8Array ? compareBytes(left, right) : undefined;
  if (left instanceof Timestamp) return right instanceof Timestamp ? compareTimes(left, right) : undefined;
  if (left instanceof Duration) return right instanceof Duration ? compareTimes(left, right) : undefined;
  return undefined;
}

function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Double || value instanceof Uint ? value.value : undefined;
}

/** JavaScript compares number and bigint exactly, without rounding. */
function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : 0;
}

/** By code point: surrogates (U+10000 and up) sort after U+E000…U+FFFF, unlike in UTF-16. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    if (one === other) continue;
    const oneIsSurrogate = (one & 0xf800) === 0xd800;
    if (oneIsSurrogate !== ((other & 0xf800) === 0xd800)) return oneIsSurrogate ? 1 : -1;
    return one - other;
  }
  return left.length - right.length;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const difference = left[at]! - right[at]!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export function compareTimes(left: Timestamp | Duration, right: Timestamp | Duration): number {
  return left.seconds === right.seconds ? left.nanos - right.nanos : left.seconds - right.seconds;
}
