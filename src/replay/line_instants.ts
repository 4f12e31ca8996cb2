import { textIn } from './line_bytes.ts';

const MINUTE_BYTES = '2026-01-01T00:00:'.length;
const INSTANT_BYTES = '2026-01-01T00:00:00.000Z'.length;
const INSTANT = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const ZERO = 48;
const DOT = 46;
const Z = 90;

/** The minute of the last instant, because lines of a log are ordered by time. */
const minute = new Uint8Array(MINUTE_BYTES);
let minuteMs = 0;

/** The time of a text in bytes, in ms since the epoch, as `Date.parse` reads it: NaN for any other text. */
export function instantIn(bytes: Buffer, from: number, to: number): number {
  if (to - from === INSTANT_BYTES && isInMinute(bytes, from)) {
    const ms = withinMinute(bytes, from + MINUTE_BYTES);
    if (ms >= 0) return minuteMs + ms;
  }
  const text = textIn(bytes, from, to);
  const ms = Date.parse(text);
  if (INSTANT.test(text) && !Number.isNaN(ms)) {
    bytes.copy(minute, 0, from);
    minuteMs = ms - withinMinute(bytes, from + MINUTE_BYTES);
  }
  return ms;
}

function isInMinute(bytes: Buffer, from: number): boolean {
  // Most instants differ in their last digits.
  for (let at = MINUTE_BYTES - 1; at >= 0; at--) if (bytes[from + at] !== minute[at]) return false;
  return true;
}

/** The milliseconds of `05.250Z`; negative for anything else. */
function withinMinute(bytes: Buffer, from: number): number {
  const isSeparated = bytes[from + 2] === DOT && bytes[from + 6] === Z;
  const tens = digit(bytes[from]!);
  if (!isSeparated || tens > 5) return -1;
  const seconds = tens * 10 + digit(bytes[from + 1]!);
  return (
    seconds * 1_000 + digit(bytes[from + 3]!) * 100 + digit(bytes[from + 4]!) * 10 + digit(bytes[from + 5]!)
  );
}

/** So far below zero that a sum with it is negative if the byte is not a digit. */
const NO_DIGIT = -1_000_000;

function digit(byte: number): number {
  const value = byte - ZERO;
  return value >= 0 && value <= 9 ? value : NO_DIGIT;
}
