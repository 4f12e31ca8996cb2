import { fingerprint } from '../../../crypto/digest.ts';
import { type FunctionRow, type Overload, func, overload } from '../../../cel/function_table.ts';
import { CHARACTERS_PER_UNIT } from '../../../cel/limits.ts';
import { BOOL, BYTES, DYN, STRING, list, map } from '../../../cel/types.ts';
import { EvalError, type Value, fail } from '../../../cel/values.ts';
import { crc32, crc64, xxhash64 } from '../checksums.ts';
import { JSON_DEPTH_LIMIT, JSON_LIMIT_UNITS, decodeJson, encodeJson, textOfBytes, unitsOf } from '../json.ts';
import { BASE64 } from '../../../crypto/base64.ts';
import { isJson } from '../../../http/ascii.ts';

const perCharacter = (value: { readonly length: number }): number => value.length / CHARACTERS_PER_UNIT;

function encodeBase64(text: string): string {
  return Buffer.from(text.toWellFormed(), 'utf8').toString('base64');
}

function bytesOf(text: string): Uint8Array | EvalError {
  return BASE64.test(text)
    ? new Uint8Array(Buffer.from(text, 'base64'))
    : fail('expr.invalid_argument', 'the text is not base64');
}

function decodeBase64(text: string): string | EvalError {
  const bytes = bytesOf(text);
  return bytes instanceof EvalError ? bytes : textOfBytes(bytes);
}

const WRITE = { params: [STRING], result: STRING, cost: perCharacter } as const;

const BASE64_FUNCTIONS: readonly FunctionRow[] = [
  func(
    'base64.encode',
    'Base64 encoding of bytes; `encodeBase64` takes a string.',
    "base64.encode(b'hi') == 'aGk='",
    [
      overload({
        id: 'base64_encode_bytes',
        style: 'global',
        params: [BYTES],
        result: STRING,
        cost: perCharacter,
        call: (bytes) => Buffer.from(bytes).toString('base64'),
      }),
    ],
  ),
  func(
    'base64.decode',
    'The bytes in a base64 text with its padding; `decodeBase64` gives a string.',
    "base64.decode('aGk=') == b'hi'",
    [overload({ ...WRITE, id: 'base64_decode_text', style: 'global', result: BYTES, call: bytesOf })],
  ),
  func('encodeBase64', 'Base64 encoding of the string.', "'hi'.encodeBase64() == 'aGk='", [
    overload({ ...WRITE, id: 'string_encode_base64', style: 'method', call: encodeBase64 }),
  ]),
  func('decodeBase64', 'The string in the base64 text.', "'aGk='.decodeBase64() == 'hi'", [
    overload({ ...WRITE, id: 'string_decode_base64', style: 'method', call: decodeBase64 }),
  ]),
  func(
    'basic_auth.encode',
    'The value of an Authorization field for a user name and a password.',
    "basic_auth.encode('ada', 'pw') == 'Basic YWRhOnB3'",
    [
      overload({
        id: 'basic_auth_encode',
        style: 'global',
        params: [STRING, STRING],
        result: STRING,
        cost: (user, password) => (user.length + password.length) / CHARACTERS_PER_UNIT,
        call: (user, password) =>
          // RFC 7617 §2: the first colon ends the user name.
          user.includes(':')
            ? fail('expr.invalid_argument', 'a user name cannot contain a colon')
            : `Basic ${encodeBase64(`${user}:${password}`)}`,
      }),
    ],
  ),
];

/** The cost of encoding; the size of a result is bounded. */
const jsonCost = (value: Value): number => unitsOf(value, JSON_LIMIT_UNITS);

function jsonWriter(id: string, style: 'global' | 'method'): Overload {
  return overload({ id, style, params: [DYN], result: STRING, cost: jsonCost, call: encodeJson });
}

const JSON_FUNCTIONS: readonly FunctionRow[] = [
  func(
    'json.encode',
    'JSON of a value, without white space.',
    `json.encode({'a': [1, true]}) == '{"a":[1,true]}'`,
    [jsonWriter('json_encode', 'global')],
  ),
  func(
    'json.decode',
    `The value of a JSON text, with numbers as doubles; an error if it is invalid or nested deeper than ${JSON_DEPTH_LIMIT} levels.`,
    `json.decode('{"a":[1,true]}').a[0] == 1.0`,
    [
      overload({
        id: 'json_decode',
        style: 'global',
        params: [STRING],
        result: DYN,
        cost: perUnit,
        call: decodeJson as never,
      }),
    ],
  ),
  func('encodeJson', 'JSON of the list or map.', "[1, 'a'].encodeJson() == '[1,\"a\"]'", [
    overload({
      id: 'list_encode_json',
      style: 'method',
      params: [list(DYN)],
      result: STRING,
      cost: jsonCost,
      call: encodeJson,
    }),
    overload({
      id: 'map_encode_json',
      style: 'method',
      params: [map(DYN, DYN)],
      result: STRING,
      cost: jsonCost,
      call: encodeJson,
    }),
  ]),
  func('decodeJson', 'The value of the JSON text.', "'[1]'.decodeJson() == [1]", [
    overload({
      id: 'string_decode_json',
      style: 'method',
      params: [STRING],
      result: DYN,
      cost: perUnit,
      call: decodeJson as never,
    }),
  ]),
  func('isJson', 'Whether the string is valid JSON.', "'[1]'.isJson() && !'[1'.isJson()", [
    overload({ id: 'is_json', style: 'method', params: [STRING], result: BOOL, cost: perUnit, call: isJson }),
  ]),
];

/** Parsing creates up to one value per one or two characters. */
function perUnit(text: string): number {
  return text.length / 2;
}

type Encoding = 'hex' | 'base64';
type HashText = (text: string, encoding: Encoding) => string;

function checksum(sum: (bytes: Uint8Array) => Uint8Array): HashText {
  return (text, encoding) => Buffer.from(sum(Buffer.from(text.toWellFormed(), 'utf8'))).toString(encoding);
}

const HASHES: readonly (readonly [name: string, title: string, hash: HashText, example: string])[] = [
  ['crc32', 'CRC-32', checksum(crc32), 'cbf43926'],
  ['crc64', 'CRC-64 (ISO 3309)', checksum(crc64), 'b90956c775a41001'],
  ['md5', 'MD5', (text, encoding) => fingerprint('md5', text, encoding), '25f9e794323b453885f5181f1b624d0b'],
  [
    'sha1',
    'SHA-1',
    (text, encoding) => fingerprint('sha1', text, encoding),
    'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  ],
  [
    'sha256',
    'SHA-256',
    (text, encoding) => fingerprint('sha256', text, encoding),
    '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
  ],
  [
    'sha512',
    'SHA-512',
    (text, encoding) => fingerprint('sha512', text, encoding),
    'd9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85',
  ],
  ['xxhash64', 'xxHash64', checksum(xxhash64), '8cb841db40e6ae83'],
];

function isEncoding(text: string): text is Encoding {
  return text === 'hex' || text === 'base64';
}

const hashCost = (text: string): number => text.length / CHARACTERS_PER_UNIT + 8;

function hashOverloads(name: string, style: 'global' | 'method', hash: HashText): readonly Overload[] {
  return [
    overload({
      id: `${style}_${name}`,
      style,
      params: [STRING],
      result: STRING,
      cost: hashCost,
      call: (text) => hash(text, 'hex'),
    }),
    overload({
      id: `${style}_${name}_encoding`,
      style,
      params: [STRING, STRING],
      result: STRING,
      cost: hashCost,
      call: (text, encoding) =>
        isEncoding(encoding)
          ? hash(text, encoding)
          : fail('expr.invalid_argument', unknownEncoding(encoding)),
      specialise: ([text, encoding]) => {
        if (typeof encoding !== 'string') return undefined;
        if (!isEncoding(encoding)) {
          return {
            problem: { code: 'expr.invalid_argument', message: unknownEncoding(encoding), argument: 1 },
          };
        }
        return text === undefined ? { call: (given: Value) => hash(given as string, encoding) } : undefined;
      },
    }),
  ];
}

function unknownEncoding(encoding: string): string {
  return `the encoding of a hash has to be 'hex' or 'base64', not '${encoding.slice(0, 40)}'`;
}

const HASH_FUNCTIONS: readonly FunctionRow[] = HASHES.flatMap(([name, title, hash, digits]) => [
  func(
    `hash.${name}`,
    `${title} of the string's UTF-8, as 'hex' (default) or 'base64'.`,
    `hash.${name}('123456789') == '${digits}'`,
    hashOverloads(name, 'global', hash),
  ),
  func(
    name,
    `${title} of the string's UTF-8, as 'hex' (default) or 'base64'.`,
    `'123456789'.${name}('hex') == '${digits}'`,
    hashOverloads(name, 'method', hash),
  ),
]);

/** Base64, JSON and hashes. `base64.*` replaces that of the language, which works on bytes. */
export const ENCODING_FUNCTIONS: readonly FunctionRow[] = [
  ...BASE64_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...HASH_FUNCTIONS,
];
