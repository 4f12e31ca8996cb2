import { isFlat, pointOffset, sizeOfText, sliceText, unitOffset } from './text.ts';
import { type EvalError, type Value, fail } from './values.ts';

/** The strings extension: positions are code points. */

type Int = number | bigint;

function outOfRange(index: Int): EvalError {
  return fail('expr.index_out_of_range', `position ${index} is outside the string`);
}

/** A code point position from 0 to the size, or undefined. */
function position(text: string, index: Int): number | undefined {
  return typeof index === 'number' && index >= 0 && index <= sizeOfText(text) ? index : undefined;
}

export function charAt(text: string, index: Int): string | EvalError {
  const at = position(text, index);
  return at === undefined ? outOfRange(index) : sliceText(text, at, at + 1);
}

export function indexOf(text: string, part: string, from: Int = 0): number | EvalError {
  const at = position(text, from);
  if (at === undefined) return outOfRange(from);
  const found = text.indexOf(part, isFlat(text) ? at : unitOffset(text, at));
  return found < 0 ? -1 : pointOffset(text, found);
}

export function lastIndexOf(text: string, part: string, from?: Int): number | EvalError {
  const at = from === undefined ? sizeOfText(text) : position(text, from);
  if (at === undefined) return outOfRange(from ?? 0);
  const found = text.lastIndexOf(part, isFlat(text) ? at : unitOffset(text, at));
  return found < 0 ? -1 : pointOffset(text, found);
}

export function substring(text: string, from: Int, to?: Int): string | EvalError {
  const start = position(text, from);
  if (start === undefined) return outOfRange(from);
  const end = to === undefined ? sizeOfText(text) : position(text, to);
  if (end === undefined) return outOfRange(to ?? 0);
  if (start > end)
    return fail('expr.index_out_of_range', `a substring cannot start at ${start} and end at ${end}`);
  return sliceText(text, start, end);
}

/** At most `limit` replacements, all if negative. An empty string is found before and after each code point. */
export function replace(text: string, old: string, fresh: string, limit: Int = -1): string {
  const pieces = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  if (limit < 0 || limit >= pieces.length - 1) return pieces.join(fresh);
  const first = Number(limit) + 1;
  return [pieces.slice(0, first).join(fresh), ...pieces.slice(first)].join(old);
}

/**
 * Pieces between separators; the last of `limit` pieces keeps the rest. An empty separator splits into code
 * points.
 */
export function split(text: string, separator: string, limit: Int = -1): string[] {
  if (limit === 0) return [];
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || pieces.length <= limit) return pieces;
  const kept = Number(limit) - 1;
  return [...pieces.slice(0, kept), pieces.slice(kept).join(separator)];
}

export function join(pieces: readonly Value[], separator = ''): string | EvalError {
  return pieces.every((piece) => typeof piece === 'string')
    ? pieces.join(separator)
    : fail('expr.no_such_overload', 'only a list of strings can be joined');
}

export function upperAscii(text: string): string {
  return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
}

// oxlint-disable-next-line eslint/no-control-regex -- control characters are what is quoted
const SPECIAL = /[\u0007\b\f\n\r\t\v\\"]/g;

export function quote(text: string): string {
  return `"${text.toWellFormed().replaceAll(SPECIAL, (character) => QUOTED[character] ?? character)}"`;
}

const QUOTED: Readonly<Record<string, string>> = {
  '\u0007': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
  '\\': String.raw`\\`,
  '"': String.raw`\"`,
};

/** Trims Unicode White_Space, as Go's strings.TrimSpace does; U+FEFF is kept. */
export function trim(text: string): string {
  return text.replace(/^\p{White_Space}+/u, '').replace(/(?<!\p{White_Space})\p{White_Space}+$/u, '');
}
