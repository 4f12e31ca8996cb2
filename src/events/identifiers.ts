const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Characters in one part of an id: its time, the chance of its maker, its place in the maker's count. */
const PART_LENGTH = 9;
const PART = 36 ** PART_LENGTH;
const TRIPLE = 36 ** 3;

/** Gives identifiers of one kind, sortable by time. */
export type IdMaker = (nowMs: number) => string;

/**
 * Makes a maker: the prefix, then 27 characters: 9 of time (until the year 5188), 9 of chance drawn once, 9 that
 * count. Lower-case letters and digits only, because some clients fold the case of ids.
 */
export function idMaker(prefix: string, random: () => number): IdMaker {
  const chance = base36(Math.floor(random() * PART));
  let count = Math.floor(random() * TRIPLE);
  let lastMs = Number.NaN;
  let head = '';
  // The count's upper six digits change once in 46,656 ids.
  let upper = '';
  return (nowMs) => {
    if (nowMs !== lastMs || count % TRIPLE === 0) {
      lastMs = nowMs;
      head = `${prefix}_${base36(Math.floor(nowMs))}${chance}`;
      upper = base36(Math.floor(count / TRIPLE)).slice(3);
    }
    return head + upper + triples()[count++ % TRIPLE]!;
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

/** All numbers of three digits in base 36: an id is made for every request. */
function triples(): readonly string[] {
  made ??= Array.from({ length: TRIPLE }, (_, value) => base36(value).slice(-3));
  return made;
}
