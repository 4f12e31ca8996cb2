import { daysInMonth, secondsFromCivil } from '../../../calendar/dates.ts';

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z$/;

/**
 * Reads a time of SAML (Core §1.3.3: xs:dateTime in UTC, without another zone) as milliseconds since the epoch;
 * null when it is none. Fractions finer than a millisecond are cut off.
 */
export function readInstant(text: string): number | null {
  const found = INSTANT.exec(text.trim());
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  // Leap seconds are not allowed (Core §1.3.3).
  if (hour > 23 || minute > 59 || second > 59) return null;
  const ms = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3));
  return secondsFromCivil(year, month, day, hour, minute, second) * 1000 + ms;
}
