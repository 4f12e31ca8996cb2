import { type FunctionRow, func, overload } from '../../../cel/function_table.ts';
import { INT, STRING, list } from '../../../cel/types.ts';

const SPLIT = { style: 'method', result: list(STRING), cost: (text: string) => text.length } as const;

/** Unlike in the language, a limit drops the rest instead of keeping it in the last piece. */
function split(text: string, separator: string, limit: number | bigint = -1): string[] {
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  return limit < 0 || limit > pieces.length ? pieces : pieces.slice(0, Number(limit));
}

/**
 * The text with each code point in the other case by itself, as the service documents: İ becomes i, ß stays, and a
 * sigma at the end of a word is an ordinary one.
 */
export function eachCased(text: string, method: 'toLowerCase' | 'toUpperCase'): string {
  return text
    .replaceAll(/[^\p{ASCII}]/gu, (point) => {
      const cased = Array.from(point[method]());
      if (cased.length === 1) return cased[0]!;
      return method === 'toLowerCase' ? cased[0]! : point;
    })
    .replaceAll(/\p{ASCII}+/gu, (letters) => letters[method]());
}

/** String methods that the language does not have, or that differ. */
export const STRING_FUNCTIONS: readonly FunctionRow[] = [
  func('lower', 'The string in lower case, by Unicode rules.', "'ÄB'.lower() == 'äb'", [
    overload({
      id: 'string_lower',
      style: 'method',
      params: [STRING],
      result: STRING,
      cost: (text) => text.length,
      call: (text) => eachCased(text, 'toLowerCase'),
    }),
  ]),
  func('upper', 'The string in upper case, by Unicode rules.', "'äb'.upper() == 'ÄB'", [
    overload({
      id: 'string_upper',
      style: 'method',
      params: [STRING],
      result: STRING,
      cost: (text) => text.length,
      call: (text) => eachCased(text, 'toUpperCase'),
    }),
  ]),
  func(
    'split',
    'Pieces between separators, or between spaces; with a limit, further pieces are dropped.',
    "'a,b,c'.split(',', 2) == ['a', 'b']",
    [
      overload({ ...SPLIT, id: 'string_split', params: [STRING], call: (text) => split(text, ' ') }),
      overload({
        ...SPLIT,
        id: 'string_split_string',
        params: [STRING, STRING],
        call: (text, separator) => split(text, separator),
      }),
      overload({
        ...SPLIT,
        id: 'string_split_string_int',
        params: [STRING, STRING, INT],
        call: split,
      }),
    ],
  ),
];
