/** Beyond all code points: stands for a field that is absent, as a text of this one character. */
export const ABSENT = 0x110000;
/** Between the values of a field that has several. */
export const SEPARATOR = 0x110001;

/**
 * A minimal deterministic automaton: two automata accept the same texts exactly if their keys are equal. Its
 * characters are ranges of code points, `ABSENT` and `SEPARATOR`.
 */
export interface Dfa {
  readonly key: string;
  /** First code point of each range, ascending, from 0. */
  readonly starts: readonly number[];
  /** Next state by `state * starts.length + range`. The start is state 0. */
  readonly next: Int32Array;
  readonly accepts: Uint8Array;
  /** Whether an accepting state, or one that does not accept, can still be reached. */
  readonly canAccept: Uint8Array;
  readonly canRefuse: Uint8Array;
}

/** The position of the range that contains a code point. */
export function rangeOf(starts: readonly number[], point: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= point) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Whether a text, or a list of values, is accepted; undefined is the absent field. */
export function isAccepted(dfa: Dfa, text: string | readonly string[] | undefined): boolean {
  const width = dfa.starts.length;
  let state = 0;
  for (const point of pointsOf(text)) state = dfa.next[state * width + rangeOf(dfa.starts, point)]!;
  return dfa.accepts[state] === 1;
}

function pointsOf(text: string | readonly string[] | undefined): readonly number[] {
  if (text === undefined || text.length === 0) return text === '' ? [] : [ABSENT];
  const points: number[] = [];
  for (const value of typeof text === 'string' ? [text] : text) {
    points.push(SEPARATOR);
    for (const character of value) points.push(character.codePointAt(0)!);
  }
  return points.slice(1);
}

/** Longer beginnings are cut. */
const BEGINNING_LIMIT = 256;

/** The characters that all accepted texts begin with. */
export function beginningOf({ starts, next, accepts, canAccept }: Dfa): readonly number[] {
  const width = starts.length;
  const points: number[] = [];
  for (let state = 0; points.length < BEGINNING_LIMIT && accepts[state] === 0;) {
    let only = -1;
    for (let range = 0; range < width; range++) {
      if (canAccept[next[state * width + range]!] === 0) continue;
      if (only >= 0) return points;
      only = range;
    }
    if (only < 0 || (starts[only + 1] ?? SEPARATOR + 1) - starts[only]! > 1) return points;
    points.push(starts[only]!);
    state = next[state * width + only]!;
  }
  return points;
}
