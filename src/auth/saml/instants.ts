import { readSeconds } from '../../datetime/texts.ts';

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z$/;

/**
 * Parses a SAML time (Core §1.3.3: xs:dateTime in UTC) as milliseconds since the epoch; null if it is
 * invalid. Fractions below a millisecond are truncated.
 */
export function readInstant(text: string): number | null {
  const found = INSTANT.exec(text.trim());
  if (found === null) return null;
  // Leap seconds are not allowed (Core §1.3.3).
  const seconds = readSeconds(found.slice(1, 7));
  const ms = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3));
  return seconds === null ? null : seconds * 1000 + ms;
}
