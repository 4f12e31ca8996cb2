import { secretFraction } from '../crypto/random.ts';
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Length of each part of an id: time, random part of the process, counter. */
const PART_LENGTH = 9;
const PART = 36 ** PART_LENGTH;
/** Counters begin below it. */
const FIRST = 36 ** 3;

/** Creates ids of one kind, sortable by time. */
export type IdMaker = (nowMs: number) => string;

/**
 * Creates an id generator: a prefix and 27 characters: 9 for the time (until the year 5188), 9 random ones
 * drawn once, and a counter of 9. Ids consist of lower-case letters and digits, because some clients fold the
 * case of ids.
 */
export function idMaker(prefix: string, random: () => number): IdMaker {
  const chance = base36(Math.floor(random() * PART));
  let count = Math.floor(random() * FIRST);
  let lastMs = Number.NaN;
  let time = '';
  // All but the last digit, which changes once in 36 ids.
  let counter = '';
  let before = '';
  return (nowMs) => {
    const digit = count % 36;
    if (nowMs !== lastMs || digit === 0) {
      if (nowMs !== lastMs) time = base36(Math.floor(nowMs));
      if (digit === 0 || counter === '') counter = base36(Math.floor(count / 36)).slice(1);
      lastMs = nowMs;
      before = `${prefix}_${time}${chance}${counter}`;
    }
    count++;
    return before + DIGITS[digit]!;
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

/** Returns a function that creates ids with a prefix, which cannot be guessed. */
export function newIds(nowMs: () => number): (prefix: string) => string {
  const makers = new Map<string, IdMaker>();
  return (prefix) => {
    let maker = makers.get(prefix);
    if (maker === undefined) makers.set(prefix, (maker = idMaker(prefix, secretFraction)));
    return maker(nowMs());
  };
}
