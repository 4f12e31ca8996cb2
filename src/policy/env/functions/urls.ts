import { type FunctionRow, func, overload } from '../../../cel/function_table.ts';
import { keysOfMap, lookUp } from '../../../cel/equality.ts';
import { CHARACTERS_PER_UNIT } from '../../../cel/limits.ts';
import { BOOL, DYN, STRING, map } from '../../../cel/types.ts';
import {
  EvalError,
  type MapValue,
  type StringMap,
  type Value,
  fail,
  stringMap,
} from '../../../cel/values.ts';
import { textOf, unitsOf } from '../json.ts';
import { formEncode, formPairs, percentDecode, percentEncode } from '../percent.ts';
import { URL_TYPE, type UrlValue, isQueryString, isUrl, parseUrl } from '../urls.ts';

const perCharacter = (text: string): number => text.length / CHARACTERS_PER_UNIT;
/** Three characters per octet, and up to three octets per UTF-16 unit. */
const encodedSize = (text: string): number => (text.length * 9) / CHARACTERS_PER_UNIT;

function unescape(text: string): string | EvalError {
  return percentDecode(text) ?? fail('expr.invalid_argument', 'the text has an invalid percent-escape');
}

function parse(text: string): UrlValue | EvalError {
  return parseUrl(text) ?? fail('expr.invalid_argument', 'the text is not a URL with a scheme and a host');
}

/** One value per name: the first. */
function decodeQuery(text: string): StringMap {
  const flat = stringMap();
  const query = text.startsWith('?') ? text.slice(1) : text;
  for (const [name, value] of formPairs(query)) if (flat[name] === undefined) flat[name] = value;
  return flat;
}

/** `a=1&b=2`; a list repeats its name for each member. */
function encodeQuery(values: MapValue): string | EvalError {
  const pairs: string[] = [];
  for (const key of keysOfMap(values)) {
    const name = textOf(key);
    if (name instanceof EvalError) return name;
    const value = lookUp(values, key)!;
    for (const member of Array.isArray(value) ? (value as readonly Value[]) : [value]) {
      const text = textOf(member);
      if (text instanceof EvalError) return text;
      pairs.push(`${formEncode(name)}=${formEncode(text)}`);
    }
  }
  return pairs.join('&');
}

const queryCost = (values: Value): number => unitsOf(values) * 9;
const QUERY = map(STRING, STRING);
const TEXT = { params: [STRING], result: STRING } as const;

/** URLs, their parts and their queries. */
export const URL_FUNCTIONS: readonly FunctionRow[] = [
  func(
    'url.escape',
    'Percent-encodes everything except letters, digits and `-._~`.',
    "url.escape('San José') == 'San%20Jos%C3%A9'",
    [overload({ ...TEXT, id: 'url_escape', style: 'global', cost: encodedSize, call: percentEncode })],
  ),
  func(
    'url.unescape',
    'Decodes percent-escapes; an error if one is invalid.',
    "url.unescape('a%20b') == 'a b'",
    [overload({ ...TEXT, id: 'url_unescape', style: 'global', cost: perCharacter, call: unescape })],
  ),
  func(
    'url.parse',
    'The parts of a URL; an error if it is invalid.',
    "url.parse('https://a.example:8443/x?y=1').port == 8443",
    [
      overload({
        id: 'url_parse',
        style: 'global',
        params: [STRING],
        result: URL_TYPE,
        cost: perCharacter,
        call: parse,
      }),
    ],
  ),
  func(
    'escapeUrl',
    'Percent-encodes everything except letters, digits and `-._~`.',
    "'a/b'.escapeUrl() == 'a%2Fb'",
    [overload({ ...TEXT, id: 'string_escape_url', style: 'method', cost: encodedSize, call: percentEncode })],
  ),
  func(
    'unescapeUrl',
    'Decodes percent-escapes; an error if one is invalid.',
    "'a%2Fb'.unescapeUrl() == 'a/b'",
    [overload({ ...TEXT, id: 'string_unescape_url', style: 'method', cost: perCharacter, call: unescape })],
  ),
  func(
    'parseUrl',
    'The parts of the URL; an error if it is invalid.',
    "'https://a.example/x'.parseUrl().path == '/x'",
    [
      overload({
        id: 'string_parse_url',
        style: 'method',
        params: [STRING],
        result: URL_TYPE,
        cost: perCharacter,
        call: parse,
      }),
    ],
  ),
  func(
    'isURL',
    'Whether the string is a URL with a scheme and a host.',
    "'https://a.example/'.isURL() && !'/x'.isURL()",
    [
      overload({
        id: 'is_url',
        style: 'method',
        params: [STRING],
        result: BOOL,
        cost: perCharacter,
        call: isUrl,
      }),
    ],
  ),
  func(
    'queryString.encode',
    'A query from a map; a list repeats its name for each member.',
    "queryString.encode({'q': 'a b', 'n': [1, 2]}) == 'q=a+b&n=1&n=2'",
    [
      overload({
        id: 'query_string_encode',
        style: 'global',
        params: [map(DYN, DYN)],
        result: STRING,
        cost: queryCost,
        call: encodeQuery,
      }),
    ],
  ),
  func(
    'queryString.decode',
    'The first value of each name of a query.',
    "queryString.decode('q=a+b&q=c').q == 'a b'",
    [
      overload({
        id: 'query_string_decode',
        style: 'global',
        params: [STRING],
        result: QUERY,
        cost: (text) => text.length,
        call: decodeQuery,
      }),
    ],
  ),
  func('encodeQueryString', 'A query from the map.', "{'q': 'ü'}.encodeQueryString() == 'q=%C3%BC'", [
    overload({
      id: 'map_encode_query_string',
      style: 'method',
      params: [map(DYN, DYN)],
      result: STRING,
      cost: queryCost,
      call: encodeQuery,
    }),
  ]),
  func(
    'decodeQueryString',
    'The first value of each name of the query.',
    "'q=1'.decodeQueryString() == {'q': '1'}",
    [
      overload({
        id: 'string_decode_query_string',
        style: 'method',
        params: [STRING],
        result: QUERY,
        cost: (text) => text.length,
        call: decodeQuery,
      }),
    ],
  ),
  func(
    'isQueryString',
    'Whether the string is valid as the query of a URL.',
    "'a=1&b=%20'.isQueryString() && !'a b'.isQueryString()",
    [
      overload({
        id: 'is_query_string',
        style: 'method',
        params: [STRING],
        result: BOOL,
        cost: perCharacter,
        call: isQueryString,
      }),
    ],
  ),
];
