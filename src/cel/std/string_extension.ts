import { type FunctionRow, func, overload } from '../function_table.ts';
import { CHARACTERS_PER_UNIT, EVALUATION_BUDGET } from '../limits.ts';
import {
  charAt,
  indexOf,
  join,
  lastIndexOf,
  quote,
  replace,
  split,
  substring,
  trim,
  upperAscii,
} from '../string_functions.ts';
import { DYN, INT, list, STRING } from '../types.ts';
import { formatText } from './format.ts';
import { asciiLower } from '../../http/ascii.ts';
import { keysOfMap, lookUp } from '../equality.ts';
import { type Value, isMap, Optional } from '../values.ts';

const perCharacter = (text: string): number => text.length / CHARACTERS_PER_UNIT;

function plain(
  name: string,
  call: (text: string) => string,
  cost: (text: string) => number = perCharacter,
): Parameters<typeof func>[3] {
  return [
    overload({
      id: `string_${name}`,
      style: 'method',
      params: [STRING],
      result: STRING,
      call,
      cost,
    }),
  ];
}

const SEARCH = { style: 'method', result: INT, cost: perCharacter } as const;
const replacedSize = (text: string, old: string, fresh: string): number =>
  ((text.length / Math.max(1, old.length) + 1) * fresh.length + text.length) / CHARACTERS_PER_UNIT;

/** The pieces may be of any type if types are known only at run time: `join` rejects those. */
function joinedSize(pieces: readonly Value[], separator = ''): number {
  let characters = pieces.length * separator.length;
  for (const piece of pieces) if (typeof piece === 'string') characters += piece.length;
  return pieces.length + characters / CHARACTERS_PER_UNIT;
}

/** The strings extension. */
export const STRING_EXTENSION: readonly FunctionRow[] = [
  func('charAt', 'The code point at a position; empty at the end.', "'tea'.charAt(1) == 'e'", [
    overload({
      id: 'string_char_at_int',
      style: 'method',
      params: [STRING, INT],
      result: STRING,
      call: charAt,
      cost: perCharacter,
    }),
  ]),
  func(
    'indexOf',
    'Position of the first occurrence, or -1; optionally from a position on.',
    "'tacocat'.indexOf('c') == 2",
    [
      overload({
        ...SEARCH,
        id: 'string_index_of_string',
        params: [STRING, STRING],
        call: (text, part) => indexOf(text, part),
      }),
      overload({ ...SEARCH, id: 'string_index_of_string_int', params: [STRING, STRING, INT], call: indexOf }),
    ],
  ),
  func(
    'lastIndexOf',
    'Position of the last occurrence, or -1; optionally up to a position.',
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
  func(
    'substring',
    'Code points from a position, optionally up to another.',
    "'tacocat'.substring(0, 4) == 'taco'",
    [
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
    ],
  ),
  func(
    'replace',
    'Replaces a string with another, all occurrences or the first few.',
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
    'Pieces between separators; with a limit, the last piece keeps the rest.',
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
  func('join', 'Joins a list of strings with a separator.', "['a', 'b'].join('-') == 'a-b'", [
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
  ]),
  func('trim', 'The string without white space at both ends.', "' a '.trim() == 'a'", plain('trim', trim)),
  func(
    'lowerAscii',
    'ASCII letters in lower case.',
    "'TacoCat'.lowerAscii() == 'tacocat'",
    plain('lower_ascii', asciiLower),
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
    plain(
      'reverse',
      (text) => Array.from(text).toReversed().join(''),
      (text) => text.length,
    ),
  ),
  func(
    'strings.quote',
    'The string as a double-quoted literal with escapes.',
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
        cost: (text, values) => text.length / CHARACTERS_PER_UNIT + sizeOfValue(values, EVALUATION_BUDGET),
      }),
    ],
  ),
];

/**
 * Units of a serialised value: one for each element and for 8 characters, including nested members. Lists with
 * shared members can be far larger serialised than in memory, so counting stops at `most`.
 */
function sizeOfValue(value: Value, most: number): number {
  let units = 0;
  const waiting: Value[] = [value];
  for (let next = waiting.pop(); next !== undefined && units <= most; next = waiting.pop()) {
    units += 1;
    if (typeof next === 'string' || next instanceof Uint8Array) units += next.length / CHARACTERS_PER_UNIT;
    else if (Array.isArray(next)) pushAll(waiting, next as readonly Value[], most - units);
    else if (next instanceof Optional && next.value !== undefined) waiting.push(next.value);
    else if (isMap(next)) {
      const keys = keysOfMap(next);
      pushAll(waiting, keys, most - units);
      for (const key of keys) waiting.push(lookUp(next, key)!);
    }
  }
  return units;
}

function pushAll(waiting: Value[], values: readonly Value[], most: number): void {
  for (let index = 0; index < values.length && index <= most; index += 1) waiting.push(values[index]!);
}
