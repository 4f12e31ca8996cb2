import { endsCount } from './line_leaves.ts';

const ZERO = 48;
const NINE = 57;
const QUOTE = 34;
const BACKSLASH = 92;
const FIRST_PRINTABLE = 32;
const FIRST_WIDE = 128;
/** Integers of up to this many digits are exact. */
const DIGITS_LIMIT = 15;
const WORD_BYTES = 8;

/** A text that lines are compared with. */
export interface FixedText {
  readonly length: number;
  /** Its bytes, eight at a time, as numbers: a number takes as long to compare as a byte. */
  readonly words: Float64Array;
  /** The bytes after the last word. */
  readonly rest: Uint8Array;
}

export function fixedText(text: string): FixedText {
  const bytes = new TextEncoder().encode(text);
  const view = new DataView(bytes.buffer);
  const count = Math.floor(bytes.length / WORD_BYTES);
  const words = Float64Array.from({ length: count }, (_, word) => view.getFloat64(word * WORD_BYTES, true));
  return { length: bytes.length, words, rest: bytes.slice(count * WORD_BYTES) };
}

/**
 * Whether bytes have this text at a place where there is room for it. Texts of JSON have no zero bytes, so they are never 0 or -0, which are equal;
 * and bytes that are not a number differ from all, and go to the parser.
 */
export function hasText(view: DataView, at: number, { words, rest }: FixedText): boolean {
  let from = at;
  for (let word = 0; word < words.length; word++) {
    if (view.getFloat64(from, true) !== words[word]) return false;
    from += WORD_BYTES;
  }
  for (let index = 0; index < rest.length; index++)
    if (view.getUint8(from + index) !== rest[index]) return false;
  return true;
}

/** End of a string without escapes; -1 if it is unterminated, or has bytes that must be escaped. */
export function endOfText(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte < FIRST_PRINTABLE || byte === BACKSLASH) return -1;
  }
  return -1;
}

/** End of an integer; -1 if it is not an integer. */
export function endOfCount(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  const digits = at - from;
  const isPlain = digits === 1 || (digits > 1 && digits <= DIGITS_LIMIT && bytes[from] !== ZERO);
  return isPlain && at < to && endsCount(bytes[at]!) ? at : -1;
}

/** The number that `endOfCount` has found. */
export function countIn(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) count = count * 10 + bytes[at]! - ZERO;
  return count;
}

/** Whether bytes are a text of ASCII. */
export function isTextAt(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  // Texts that differ mostly do so at their ends: paths, addresses, numbers of requests.
  for (let at = text.length - 1; at >= 0; at--) {
    const byte = bytes[from + at]!;
    if (byte !== text.charCodeAt(at) || byte >= FIRST_WIDE) return false;
  }
  return true;
}

/** A text of its own: it does not keep the line alive. */
export function textIn(bytes: Buffer, from: number, to: number): string {
  for (let at = from; at < to; at++) if (bytes[at]! >= FIRST_WIDE) return bytes.toString('utf8', from, to);
  return bytes.toString('latin1', from, to);
}
