import { func, overload } from '../function_table.ts';
import type { FunctionRow } from '../function_table.ts';
import { CHARACTERS_PER_UNIT } from '../limits.ts';
import { isFlat, pointOffset, sizeOfText, sliceText, unitOffset } from '../text.ts';
import { DYN, INT, list, STRING } from '../types.ts';
import { fail } from '../values.ts';
import type { EvalError, Value } from '../values.ts';
import { formatText } from './format.ts';

type Int = number | bigint;

const perCharacter = (text: string): number => text.length / CHARACTERS_PER_UNIT;

function outOfRange(index: Int): EvalError {
  return fail('expr.index_out_of_range', `position ${index} is outside the string`);
}

/** A code point position from 0 to the size, or undefined. */
function position(text: string, index: Int): number | undefined {
  return typeof index === 'number' && index >= 0 && index <= sizeOfText(text) ? index : undefined;
}

function charAt(text: string, index: Int): string | EvalError {
  const at = position(text, index);
  return at === undefined ? outOfRange(index) : sliceText(text, at, at + 1);
}

function indexOf(text: string, part: string, from: Int = 0): number | EvalError {
  const at = position(text, from);
  if (at === undefined) return outOfRange(from);
  const found = text.indexOf(part, isFlat(text) ? at : unitOffset(text, at));
  return found < 0 ? -1 : pointOffset(text, found);
}

function lastIndexOf(text: string, part: string, from?: Int): number | EvalError {
  const at = from === undefined ? sizeOfText(text) : position(text, from);
  if (at === undefined) return outOfRange(from ?? 0);
  const found = text.lastIndexOf(part, isFlat(text) ? at : unitOffset(text, at));
  return found < 0 ? -1 : pointOffset(text, found);
}

function substring(text: string, from: Int, to?: Int): string | EvalError {
  const start = position(text, from);
  if (start === undefined) return outOfRange(from);
  const end = to === undefined ? sizeOfText(text) : position(text, to);
  if (end === undefined) return outOfRange(to ?? 0);
  if (start > end)
    return fail('expr.index_out_of_range', `a substring cannot start at ${start} and end at ${end}`);
  return sliceText(text, start, end);
}

/** At most `limit` replacements, all when negative. */
function replace(text: string, old: string, fresh: string, limit: Int = -1): string {
  if (limit < 0) return text.replaceAll(old, () => fresh);
  let left = typeof limit === 'number' ? limit : Number.MAX_SAFE_INTEGER;
  return text.replaceAll(old, (found) => {
    left -= 1;
    return left >= 0 ? fresh : found;
  });
}

/** Pieces between separators; the last of `limit` pieces keeps the rest. An empty separator parts code points. */
function split(text: string, separator: string, limit: Int = -1): string[] {
  if (limit === 0) return [];
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || pieces.length <= limit) return pieces;
  const kept = Number(limit) - 1;
  return [...pieces.slice(0, kept), pieces.slice(kept).join(separator)];
}

function join(pieces: readonly Value[], separator = ''): string | EvalError {
  return pieces.every((piece) => typeof piece === 'string')
    ? pieces.join(separator)
    : fail('expr.no_such_overload', 'only a list of strings can be joined');
}

/** ASCII letters only, whatever else the string holds. */
function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
}

// oxlint-disable-next-line eslint/no-control-regex -- control characters are what is quoted
const SPECIAL = /[\u0007\b\f\n\r\t\v\\"]/g;

function quote(text: string): string {
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

/** Unicode White_Space, which is what Go's strings.TrimSpace removes; U+FEFF stays. */
function trim(text: string): string {
  return text.replace(/^\p{White_Space}+/u, '').replace(/(?<!\p{White_Space})\p{White_Space}+$/u, '');
}

function plain(name: string, call: (text: string) => string): Parameters<typeof func>[3] {
  return [
    overload({
      id: `string_${name}`,
      style: 'method',
      params: [STRING],
      result: STRING,
      call,
      cost: perCharacter,
    }),
  ];
}

const SEARCH = { style: 'method', result: INT, cost: perCharacter } as const;
const replacedSize = (text: string, old: string, fresh: string): number =>
  ((text.length / Math.max(1, old.length) + 1) * fresh.length + text.length) / CHARACTERS_PER_UNIT;

/** The strings extension. */
export const STRING_EXTENSION: readonly FunctionRow[] = [
  func('charAt', 'The code point at a position, empty at the end.', "'tea'.charAt(1) == 'e'", [
    overload({
      id: 'string_char_at_int',
      style: 'method',
      params: [STRING, INT],
      result: STRING,
      call: charAt,
      cost: perCharacter,
    }),
  ]),
  func('indexOf', 'Where a string first occurs, or -1; from a position on.', "'tacocat'.indexOf('c') == 2", [
    overload({
      ...SEARCH,
      id: 'string_index_of_string',
      params: [STRING, STRING],
      call: (text, part) => indexOf(text, part),
    }),
    overload({ ...SEARCH, id: 'string_index_of_string_int', params: [STRING, STRING, INT], call: indexOf }),
  ]),
  func(
    'lastIndexOf',
    'Where a string last occurs, or -1; up to a position.',
    "'tacocat'.lastIndexOf('c') == 4",
    [
      overload({
        ...SEARCH,
        id: 'string_last_index_of_string',
        params: [STRING, STRING],
        call: (text, part) => lastIndexOf(text, part),
      }),
      overload({
        ...SEARCH,
        id: 'string_last_index_of_string_int',
        params: [STRING, STRING, INT],
        call: lastIndexOf,
      }),
    ],
  ),
  func('substring', 'Code points from a position, up to another.', "'tacocat'.substring(0, 4) == 'taco'", [
    overload({
      id: 'string_substring_int',
      style: 'method',
      params: [STRING, INT],
      result: STRING,
      call: (text, from) => substring(text, from),
      cost: perCharacter,
    }),
    overload({
      id: 'string_substring_int_int',
      style: 'method',
      params: [STRING, INT, INT],
      result: STRING,
      call: substring,
      cost: perCharacter,
    }),
  ]),
  func(
    'replace',
    'Replaces a string by another, all times or the first few.',
    "'a b c'.replace(' ', '') == 'abc'",
    [
      overload({
        id: 'string_replace_string_string',
        style: 'method',
        params: [STRING, STRING, STRING],
        result: STRING,
        call: (text, old, fresh) => replace(text, old, fresh),
        cost: replacedSize,
      }),
      overload({
        id: 'string_replace_string_string_int',
        style: 'method',
        params: [STRING, STRING, STRING, INT],
        result: STRING,
        call: replace,
        cost: replacedSize,
      }),
    ],
  ),
  func(
    'split',
    'Pieces between separators; the last of a limited number keeps the rest.',
    "'a,b'.split(',') == ['a', 'b']",
    [
      overload({
        id: 'string_split_string',
        style: 'method',
        params: [STRING, STRING],
        result: list(STRING),
        call: (text, separator) => split(text, separator),
        cost: (text) => text.length,
      }),
      overload({
        id: 'string_split_string_int',
        style: 'method',
        params: [STRING, STRING, INT],
        result: list(STRING),
        call: split,
        cost: (text) => text.length,
      }),
    ],
  ),
  func(
    'join',
    'One string of a list of strings, with a separator between.',
    "['a', 'b'].join('-') == 'a-b'",
    [
      overload({
        id: 'list_join',
        style: 'method',
        params: [list(STRING)],
        result: STRING,
        call: (pieces) => join(pieces),
        cost: joinedSize,
      }),
      overload({
        id: 'list_join_string',
        style: 'method',
        params: [list(STRING), STRING],
        result: STRING,
        call: join,
        cost: joinedSize,
      }),
    ],
  ),
  func('trim', 'Without white space at both ends.', "' a '.trim() == 'a'", plain('trim', trim)),
  func(
    'lowerAscii',
    'ASCII letters in lower case.',
    "'TacoCat'.lowerAscii() == 'tacocat'",
    plain('lower_ascii', lowerAscii),
  ),
  func(
    'upperAscii',
    'ASCII letters in upper case.',
    "'TacoCat'.upperAscii() == 'TACOCAT'",
    plain('upper_ascii', upperAscii),
  ),
  func(
    'reverse',
    'Code points in reverse order.',
    "'abc'.reverse() == 'cba'",
    plain('reverse', (text) => Array.from(text).toReversed().join('')),
  ),
  func(
    'strings.quote',
    'The string as a literal, in double quotes with escapes.',
    String.raw`strings.quote('a"b') == '"a\\"b"'`,
    [
      overload({
        id: 'strings_quote',
        style: 'global',
        params: [STRING],
        result: STRING,
        call: quote,
        cost: perCharacter,
      }),
    ],
  ),
  func(
    'format',
    'Fills %s %d %f %e %b %o %x %X with the values of a list.',
    "'%s is %d'.format(['a', 1]) == 'a is 1'",
    [
      overload({
        id: 'string_format',
        style: 'method',
        params: [STRING, list(DYN)],
        result: STRING,
        call: formatText,
        cost: (text, values) => text.length / CHARACTERS_PER_UNIT + values.length,
      }),
    ],
  ),
];

function joinedSize(pieces: readonly string[], separator = ''): number {
  let characters = pieces.length * separator.length;
  for (const piece of pieces) characters += piece.length;
  return pieces.length + characters / CHARACTERS_PER_UNIT;
}
