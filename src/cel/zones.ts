/** Converts times to time zones, by fixed offset or IANA name. */
import { secondsFromCivil } from '../datetime/dates.ts';

const OFFSET = /^([+-])?(\d{2}):(\d{2})$/;
const UTC: ReadonlySet<string> = new Set(['UTC', 'Z', '']);
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
/** More zones than any policy uses; above the limit the cache of formatters is cleared. */
const KNOWN_LIMIT = 64;
const known = new Map<string, Intl.DateTimeFormat | null>();

/** Whether a conversion to the zone needs the database of zones. */
export function isNamedZone(zone: string): boolean {
  return !UTC.has(zone) && !OFFSET.test(zone);
}

/** Seconds since the epoch shifted to a zone's local time; undefined for an unknown zone. */
export function zonedSeconds(seconds: number, zone: string): number | undefined {
  if (UTC.has(zone)) return seconds;
  const offset = OFFSET.exec(zone);
  if (offset !== null) {
    const shift = Number(offset[2]) * 3_600 + Number(offset[3]) * 60;
    return offset[1] === '-' ? seconds - shift : seconds + shift;
  }
  const format = formatOf(zone);
  if (format === null) return undefined;
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(seconds * 1_000)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return secondsFromCivil(year, month, day, hour, minute, second);
}

function formatOf(zone: string): Intl.DateTimeFormat | null {
  const before = known.get(zone);
  if (before !== undefined) return before;
  if (known.size >= KNOWN_LIMIT) known.clear();
  const format = newFormat(zone);
  known.set(zone, format);
  return format;
}

function newFormat(zone: string): Intl.DateTimeFormat | null {
  if (!ZONE_NAME.test(zone)) return null;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return null;
  }
}
