import { secondsFromCivil } from '../datetime/dates.ts';
import { writeInstant } from '../datetime/texts.ts';
import type { TimestampRule } from './provider.ts';

const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Milliseconds since the epoch; null if the text is not a time in this unit. */
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

/** Formats a time as the provider sends it. */
export function formatInstant(ms: number, unit: TimestampRule['unit']): string {
  if (unit === 's') return String(Math.floor(ms / 1000));
  if (unit === 'ms') return String(Math.floor(ms));
  return writeInstant(ms);
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
  const seconds = secondsFromCivil(year, month, day, hour, minute, second);
  return seconds * 1000 + fraction - offsetMs(match[8]);
}

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** A readable duration without sign: `6 min`, `1 h 2 min`, `3.5 s`. */
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
