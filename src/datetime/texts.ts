/** Timestamps in RFC 3339 §5.6 format, in UTC, for years of four digits. */
import { civil, daysInMonth, secondsFromCivil } from './dates.ts';

/** `1970-01-01T00:00:00.000Z`, from milliseconds since the epoch; fractions of a millisecond are cut off. */
export function writeInstant(atMs: number): string {
  const seconds = Math.floor(atMs / 1_000);
  return `${writeSeconds(seconds)}.${padded(Math.floor(atMs) - seconds * 1_000, 3)}Z`;
}

/** `1970-01-01`: the UTC date of milliseconds since the epoch. */
export function writeDay(atMs: number): string {
  return writeInstant(atMs).slice(0, 10);
}

/**
 * Seconds since the epoch from year, month, day, hour, minute and second, each as digits matched by a pattern;
 * null for a time that does not exist, such as 30 February or a leap second.
 */
export function readSeconds(digits: readonly string[]): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = digits.map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  return secondsFromCivil(year, month, day, hour, minute, second);
}

/** `1970-01-01T00:00:00`, from whole seconds since the epoch; the caller adds decimals and zone. */
export function writeSeconds(seconds: number): string {
  const { year, month, day, hour, minute, second } = civil(seconds);
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}`;
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** Whole seconds since the epoch, rounded down, and 0 to 999,999,999 nanoseconds. */
export interface TimeRead {
  readonly seconds: number;
  readonly nanos: number;
}

/**
 * Parses a timestamp with upper-case T and Z; digits beyond nanoseconds are cut off. `malformed`: it has another form;
 * `impossible`: there is no such time, such as 30 February.
 */
export function readTimestamp(text: string): TimeRead | 'malformed' | 'impossible' {
  const parts = text.length > 64 ? null : TIMESTAMP.exec(text);
  if (parts === null) return 'malformed';
  const seconds = readSeconds(parts.slice(1, 7));
  const [offsetHours, offsetMinutes] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)];
  if (seconds === null || offsetHours > 23 || offsetMinutes > 59) return 'impossible';
  const offset = (offsetHours * 60 + offsetMinutes) * (parts[8] === '-' ? -60 : 60);
  return { seconds: seconds - offset, nanos: Number((parts[7] ?? '').slice(0, 9).padEnd(9, '0')) };
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
