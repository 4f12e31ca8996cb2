import { secretFraction } from '../crypto/random.ts';
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Length of each part of an id: time, random part of the process, counter. */
const PART_LENGTH = 9;
const PART = 36 ** PART_LENGTH;
const TRIPLE = 36 ** 3;

/** Creates ids of one kind, sortable by time. */
export type IdMaker = (nowMs: number) => string;

/**
 * Creates an id generator: a prefix and 27 characters: 9 for the time (until the year 5188), 9 random ones
 * drawn once, and a counter of 9. Ids consist of lower-case letters and digits, because some clients fold the
 * case of ids.
 */
export function idMaker(prefix: string, random: () => number): IdMaker {
  const chance = base36(Math.floor(random() * PART));
  let count = Math.floor(random() * TRIPLE);
  let lastMs = Number.NaN;
  let head = '';
  // The upper six digits of the counter change once in 46,656 ids.
  let upper = '';
  return (nowMs) => {
    if (nowMs !== lastMs || count % TRIPLE === 0) {
      lastMs = nowMs;
      head = `${prefix}_${base36(Math.floor(nowMs))}${chance}`;
      upper = base36(Math.floor(count / TRIPLE)).slice(3);
    }
    const lower = count++ % TRIPLE;
    return head + upper + pairs()[Math.floor(lower / 36)]! + DIGITS[lower % 36]!;
  };
}

function base36(value: number): string {
  let text = '';
  let left = value;
  for (let digit = 0; digit < PART_LENGTH; digit++) {
    text = DIGITS[left % 36]! + text;
    left = Math.floor(left / 36);
  }
  return text;
}

let made: readonly string[] | null = null;

/** All two-digit numbers in base 36; precomputed, because every request gets an id. A table of three digits would take 28 ms at the first id. */
function pairs(): readonly string[] {
  made ??= Array.from({ length: 36 ** 2 }, (_, value) => base36(value).slice(-2));
  return made;
}

/** Returns a function that creates ids with a prefix, which cannot be guessed. */
export function newIds(nowMs: () => number): (prefix: string) => string {
  const makers = new Map<string, IdMaker>();
  return (prefix) => {
    let maker = makers.get(prefix);
    if (maker === undefined) makers.set(prefix, (maker = idMaker(prefix, secretFraction)));
    return maker(nowMs());
  };
}
