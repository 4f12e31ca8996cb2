const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
const DIGITS_IN_CHUNK = 9;
/** 36^9 ms is the year 5188; an id made later would no longer sort. */
const CHUNK = 36 ** DIGITS_IN_CHUNK;

/**
 * A new identifier: the prefix, then 27 characters of which the first 9 are the time, so that ids sort by it.
 * Lower-case letters and digits only, because some clients fold the case of ids.
 */
export function newId(prefix: string, nowMs: number, random: () => number): string {
  if (nowMs !== lastMs) {
    lastTime = base36(nowMs);
    lastMs = nowMs;
  }
  return `${prefix}_${lastTime}${base36(random() * CHUNK)}${base36(random() * CHUNK)}`;
}

// Many ids share a millisecond.
let lastMs = Number.NaN;
let lastTime = '';

/** Nine digits of base 36. */
function base36(value: number): string {
  let text = '';
  let left = Math.floor(value);
  for (let digit = 0; digit < DIGITS_IN_CHUNK; digit++) {
    text = DIGITS[left % 36]! + text;
    left = Math.floor(left / 36);
  }
  return text;
}
