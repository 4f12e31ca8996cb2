import type { TimestampRule } from './provider.ts';

const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Milliseconds since the epoch, or null when the text is not an instant of that unit. */
export function parseInstant(text: string, unit: TimestampRule['unit']): number | null {
  if (unit === 'iso') return parseIso(text);
  if (text === '' || text.length > (unit === 's' ? 11 : 14)) return null;
  let number = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return null;
    number = number * 10 + digit;
  }
  return unit === 's' ? number * 1000 : number;
}

/** The instant in the spelling that a provider sends. */
export function formatInstant(ms: number, unit: TimestampRule['unit']): string {
  if (unit === 's') return String(Math.floor(ms / 1000));
  if (unit === 'ms') return String(Math.floor(ms));
  return formatIso(ms);
}

/** RFC 3339; a text without zone is UTC. */
function parseIso(text: string): number | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return null;
  const fraction = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000);
  const seconds = daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  return seconds * 1000 + fraction - offsetMs(match[8]);
}

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar, years counted from March. */
function daysFromCivil(year: number, month: number, day: number): number {
  const fromMarch = month <= 2 ? year - 1 : year;
  const era = Math.floor(fromMarch / 400);
  const yearOfEra = fromMarch - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** `1970-01-01T00:00:00.000Z`, the inverse of the above. */
function formatIso(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const rest = Math.floor(ms - days * 86_400_000);
  const clock = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60, Math.floor(rest / 1000) % 60];
  const date = `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
  return `${date}T${clock.map(twoDigits).join(':')}.${String(rest % 1000).padStart(3, '0')}Z`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** A length of time for people: `6 min`, `1 h 2 min`, `3.5 s`. The sign is left to the sentence. */
export function durationText(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 60) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.floor(seconds % 60);
  if (minutes < 60) return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}
