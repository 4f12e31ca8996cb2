/** How moments are written: RFC 3339 §5.6, in UTC. The years are those that four digits can tell. */
import { civil } from './dates.ts';

/** `1970-01-01T00:00:00.000Z`, from milliseconds since the epoch; what is finer than these is cut off. */
export function writeInstant(atMs: number): string {
  const seconds = Math.floor(atMs / 1_000);
  return `${writeSeconds(seconds)}.${padded(Math.floor(atMs) - seconds * 1_000, 3)}Z`;
}

/** `1970-01-01`, the day in UTC of milliseconds since the epoch. */
export function writeDay(atMs: number): string {
  return writeInstant(atMs).slice(0, 10);
}

/** `1970-01-01T00:00:00`, from whole seconds since the epoch: the caller adds decimals and zone. */
export function writeSeconds(seconds: number): string {
  const { year, month, day, hour, minute, second } = civil(seconds);
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}`;
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
