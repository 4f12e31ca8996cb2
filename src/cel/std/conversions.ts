import { type FunctionRow, type Overload, func, overload } from '../function_table.ts';
import { CHARACTERS_PER_UNIT } from '../limits.ts';
import { double, doubleToInt, doubleToUint, formatDouble, intOf, uintOf } from '../numbers.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp, timestampOf } from '../time.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  parameter,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from '../types.ts';
import type { Carries, Type } from '../types.ts';
import { type Double, type EvalError, type Value, fail, typeName, TypeValue } from '../values.ts';

function from<F, R>(
  id: string,
  type: Carries<F>,
  result: Carries<R>,
  call: (value: F) => R | EvalError,
  cost?: (value: F) => number,
): Overload {
  const row = { id, style: 'global', params: [type], result, pure: true, call } as const;
  return (cost === undefined ? row : { ...row, cost }) as unknown as Overload;
}

function same(id: string, type: Type): Overload {
  return { id, style: 'global', params: [type], result: type, pure: true, call: (value) => value };
}

function unreadable(text: string, wanted: string): EvalError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return fail('expr.invalid_argument', `'${shown}' cannot be converted to ${wanted}`);
}

const INT_TEXT = /^[+-]?\d{1,32}$/;
const UINT_TEXT = /^\d{1,32}$/;
const DOUBLE_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const TRUE_TEXT: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_TEXT: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

function readDouble(text: string): Double | EvalError {
  if (text.length <= 400 && DOUBLE_TEXT.test(text)) {
    const value = Number(text);
    return Number.isFinite(value)
      ? double(value)
      : fail('expr.overflow', `'${text}' is beyond the range of double`);
  }
  const special = /^([+-])?(inf|infinity|nan)$/i.exec(text);
  if (special === null) return unreadable(text, 'a double');
  if (special[2]?.toLowerCase() === 'nan') return double(Number.NaN);
  return double(special[1] === '-' ? -Infinity : Infinity);
}

function readBool(text: string): boolean | EvalError {
  if (TRUE_TEXT.has(text)) return true;
  return FALSE_TEXT.has(text) ? false : unreadable(text, 'a bool');
}

function decodeText(bytes: Uint8Array): string | EvalError {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail('expr.invalid_argument', 'the bytes are not UTF-8');
  }
}

const perCharacter = (value: { readonly length: number }): number => value.length / CHARACTERS_PER_UNIT;
const T = parameter('T');

/** Conversions between types, `type` and `dyn`. */
export const CONVERSIONS: readonly FunctionRow[] = [
  func(
    'int',
    'Integer from a number (truncated towards zero), a string, or the seconds of a timestamp.',
    "int('42') == 42",
    [
      same('int64_to_int64', INT),
      from('uint64_to_int64', UINT, INT, (value) => intOf(BigInt(value.value))),
      from('double_to_int64', DOUBLE, INT, (value) => doubleToInt(value.value)),
      from('string_to_int64', STRING, INT, (text) =>
        INT_TEXT.test(text) ? intOf(BigInt(text.replace('+', ''))) : unreadable(text, 'an int'),
      ),
      from('timestamp_to_int64', TIMESTAMP, INT, (time) => time.seconds),
    ],
  ),
  func('uint', 'Unsigned integer from a number or a string.', "uint('42') == 42u", [
    same('uint64_to_uint64', UINT),
    from('int64_to_uint64', INT, UINT, (value) => uintOf(BigInt(value))),
    from('double_to_uint64', DOUBLE, UINT, (value) => doubleToUint(value.value)),
    from('string_to_uint64', STRING, UINT, (text) =>
      UINT_TEXT.test(text) ? uintOf(BigInt(text)) : unreadable(text, 'a uint'),
    ),
  ]),
  func('double', 'Floating-point number from a number or a string.', "double('1.5') == 1.5", [
    same('double_to_double', DOUBLE),
    from('int64_to_double', INT, DOUBLE, (value) => double(Number(value))),
    from('uint64_to_double', UINT, DOUBLE, (value) => double(Number(value.value))),
    from('string_to_double', STRING, DOUBLE, readDouble),
  ]),
  func('string', 'String from a value; bytes are decoded as UTF-8.', "string(1.5) == '1.5'", [
    same('string_to_string', STRING),
    from('bool_to_string', BOOL, STRING, String),
    from('int64_to_string', INT, STRING, String),
    from('uint64_to_string', UINT, STRING, (value) => String(value.value)),
    from('double_to_string', DOUBLE, STRING, (value) => formatDouble(value.value)),
    from('bytes_to_string', BYTES, STRING, decodeText, perCharacter),
    from('timestamp_to_string', TIMESTAMP, STRING, formatTimestamp),
    from('duration_to_string', DURATION, STRING, formatDuration),
  ]),
  func('bytes', 'The UTF-8 bytes of a string.', "bytes('é').size() == 2", [
    same('bytes_to_bytes', BYTES),
    from('string_to_bytes', STRING, BYTES, (text) => new TextEncoder().encode(text), perCharacter),
  ]),
  func('bool', 'Bool from the words true, false, t, f, 1 and 0.', "bool('true')", [
    same('bool_to_bool', BOOL),
    from('string_to_bool', STRING, BOOL, readBool),
  ]),
  func(
    'timestamp',
    'Timestamp from an RFC 3339 string or seconds since 1970.',
    "timestamp('1970-01-01T00:01:00Z') == timestamp(60)",
    [
      same('timestamp_to_timestamp', TIMESTAMP),
      from('string_to_timestamp', STRING, TIMESTAMP, parseTimestamp),
      from('int64_to_timestamp', INT, TIMESTAMP, (seconds) => timestampOf(Number(seconds), 0)),
    ],
  ),
  func('duration', 'Duration from a string such as 1h30m.', "duration('1h30m') == duration('90m')", [
    same('duration_to_duration', DURATION),
    from('string_to_duration', STRING, DURATION, parseDuration),
  ]),
  func('dyn', 'The same value without static type checks.', "dyn(1) != 'a'", [
    overload({ id: 'to_dyn', style: 'global', params: [T], result: DYN, call: (value) => value }),
  ]),
  func('type', 'The type of a value, as a value.', 'type(1) == int', [
    overload({
      id: 'type',
      style: 'global',
      params: [T],
      result: TYPE,
      call: (value: Value) => new TypeValue(typeName(value)),
    }),
  ]),
];

/** Names of type values: `type(1) == int`. */
export const TYPE_NAMES: ReadonlyMap<string, TypeValue> = new Map(
  [
    'bool int uint double string bytes list map type null_type optional_type',
    'google.protobuf.Timestamp google.protobuf.Duration',
  ]
    .flatMap((names) => names.split(' '))
    .map((name) => [name, new TypeValue(name)]),
);
