import { readTimestamp, writeSeconds } from '../datetime/texts.ts';
import { type EvalError, Duration, fail, Timestamp } from './values.ts';

const NANOS = 1_000_000_000;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z (language definition, Timestamps). */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
/** Durations are int64 nanoseconds, about ±292 years. */
const MAX_SECONDS = 9_223_372_036;
const MAX_NANOS = 854_775_807;

export function timestampOf(seconds: number, nanos: number): Timestamp | EvalError {
  return seconds < FIRST_SECOND || seconds > LAST_SECOND
    ? fail('expr.overflow', 'the timestamp is outside the years 1 to 9999')
    : new Timestamp(seconds, nanos);
}

/** `seconds` and `nanos` may be of any size and sign; they are normalised. */
function durationOf(seconds: number, nanos: number): Duration | EvalError {
  const carry = Math.floor(nanos / NANOS);
  const whole = seconds + carry;
  const rest = nanos - carry * NANOS;
  const tooLong = whole > MAX_SECONDS || (whole === MAX_SECONDS && rest > MAX_NANOS);
  const tooShort = whole < -MAX_SECONDS - 1 || (whole === -MAX_SECONDS - 1 && rest < NANOS - MAX_NANOS - 1);
  if (tooLong || tooShort || Number.isNaN(whole))
    return fail('expr.overflow', 'the duration is beyond 292 years');
  return new Duration(whole, rest);
}

export function shiftTimestamp(time: Timestamp, by: Duration): Timestamp | EvalError {
  const nanos = time.nanos + by.nanos;
  return nanos >= NANOS
    ? timestampOf(time.seconds + by.seconds + 1, nanos - NANOS)
    : timestampOf(time.seconds + by.seconds, nanos);
}

export function betweenTimestamps(later: Timestamp, earlier: Timestamp): Duration | EvalError {
  return durationOf(later.seconds - earlier.seconds, later.nanos - earlier.nanos);
}

export function addDurations(left: Duration, right: Duration): Duration | EvalError {
  return durationOf(left.seconds + right.seconds, left.nanos + right.nanos);
}

export function subtractDurations(left: Duration, right: Duration): Duration | EvalError {
  return durationOf(left.seconds - right.seconds, left.nanos - right.nanos);
}

export function negateDuration(duration: Duration): Duration | EvalError {
  return durationOf(-duration.seconds, -duration.nanos);
}

/** Whole units of a duration, truncated towards zero: `unitNanos` is the length of one. */
export function wholeUnits(duration: Duration, unitNanos: bigint): number {
  return Number((BigInt(duration.seconds) * 1_000_000_000n + BigInt(duration.nanos)) / unitNanos);
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION_TEXT = /^([+-])?((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;
const DURATION_PART = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;

/** Parses `1h30m`, `-1.5s`, `250ms`: a sign, then numbers with units. */
export function parseDuration(text: string): Duration | EvalError {
  const parts = text.length > 256 ? null : DURATION_TEXT.exec(text);
  if (parts === null)
    return fail('expr.invalid_argument', `'${shorten(text)}' is not a duration such as '1h30m' or '90s'`);
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = 's'] of (parts[2] ?? '').matchAll(DURATION_PART)) {
    const unitNanos = UNIT_NANOS[unit] ?? 0n;
    total += BigInt(whole || '0') * unitNanos;
    if (fraction !== '') total += (BigInt(fraction) * unitNanos) / 10n ** BigInt(fraction.length);
  }
  if (parts[1] === '-') total = -total;
  const seconds = total / 1_000_000_000n;
  return durationOf(Number(seconds), Number(total - seconds * 1_000_000_000n));
}

/** Seconds with as many decimals as needed: `90s`, `-0.5s`. */
export function formatDuration(duration: Duration): string {
  const negative = duration.seconds < 0;
  const seconds = negative && duration.nanos > 0 ? duration.seconds + 1 : duration.seconds;
  const nanos = negative && duration.nanos > 0 ? NANOS - duration.nanos : duration.nanos;
  return `${negative ? '-' : ''}${Math.abs(seconds)}${fractionText(nanos)}s`;
}

function fractionText(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
}

/** Parses RFC 3339 §5.6. */
export function parseTimestamp(text: string): Timestamp | EvalError {
  const time = readTimestamp(text);
  if (time === 'impossible') return fail('expr.invalid_argument', `'${shorten(text)}' is not a valid time`);
  if (time !== 'malformed') return timestampOf(time.seconds, time.nanos);
  if (/^[+-]?\d{5,}-/.test(text))
    return fail('expr.overflow', 'the timestamp is outside the years 1 to 9999');
  return fail('expr.invalid_argument', `'${shorten(text)}' is not a time such as '2026-01-31T08:30:00Z'`);
}

/** RFC 3339 in UTC with as many decimals as needed. */
export function formatTimestamp(time: Timestamp): string {
  return `${writeSeconds(time.seconds)}${fractionText(time.nanos)}Z`;
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
