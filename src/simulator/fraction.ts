/** A rational number in lowest terms; `below` is positive. */
export interface Fraction {
  readonly above: bigint;
  readonly below: bigint;
}

export const ZERO: Fraction = { above: 0n, below: 1n };
export const ONE: Fraction = { above: 1n, below: 1n };

/** `above / below` in lowest terms. */
export function fraction(above: bigint | number, below: bigint | number): Fraction {
  let [a, b] = [BigInt(above), BigInt(below)];
  if (b < 0n) [a, b] = [-a, -b];
  const divisor = gcd(a < 0n ? -a : a, b);
  return divisor === 0n ? ZERO : { above: a / divisor, below: b / divisor };
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

export function plus(one: Fraction, other: Fraction): Fraction {
  return fraction(one.above * other.below + other.above * one.below, one.below * other.below);
}

export function minus(one: Fraction, other: Fraction): Fraction {
  return fraction(one.above * other.below - other.above * one.below, one.below * other.below);
}

export function times(one: Fraction, other: Fraction): Fraction {
  return fraction(one.above * other.above, one.below * other.below);
}

/** Negative if `one` is smaller. */
export function compareFractions(one: Fraction, other: Fraction): number {
  const difference = one.above * other.below - other.above * one.below;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Parses `1/3`, `0.25` or a number; null for anything else. */
export function readFraction(given: string | number): Fraction | null {
  const text = String(given);
  const ratio = /^(\d+)\s*\/\s*(\d+)$/.exec(text);
  if (ratio !== null) return ratio[2] === '0' ? null : fraction(BigInt(ratio[1]!), BigInt(ratio[2]!));
  const decimal = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/i.exec(text);
  if (decimal === null) return null;
  const [, whole, part = '', power = '0'] = decimal;
  return fraction(BigInt(whole! + part), 10n ** BigInt(part.length + Number(power)));
}

/** Formats a fraction: `9/10 (0.9)`. */
export function shownFraction({ above, below }: Fraction): string {
  return below === 1n ? String(above) : `${above}/${below} (${asNumber({ above, below })})`;
}

export function asNumber({ above, below }: Fraction): number {
  return Number(above) / Number(below);
}

/** The fraction with the smallest denominator in [low, high], 0 ≤ low: descent of the Stern-Brocot tree. */
export function simplestBetween(low: Fraction, high: Fraction): Fraction {
  const floor = low.above / low.below;
  if (floor * low.below === low.above) return low;
  const next = fraction(floor + 1n, 1n);
  if (compareFractions(next, high) <= 0) return next;
  const whole = fraction(floor, 1n);
  // Both are between the same integers: recurse with the reciprocals of the fractional parts.
  return plus(whole, inverse(simplestBetween(inverse(minus(high, whole)), inverse(minus(low, whole)))));
}

function inverse({ above, below }: Fraction): Fraction {
  return fraction(below, above);
}

/** A double is exactly a fraction with a power of two as denominator. */
export function fractionOf(value: number): Fraction {
  let below = 1n;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    below *= 2n;
  }
  return fraction(BigInt(scaled), below);
}
