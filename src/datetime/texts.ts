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

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
