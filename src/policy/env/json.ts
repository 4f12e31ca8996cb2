import { keysOfMap, lookUp } from '../../cel/equality.ts';
import { CHARACTERS_PER_UNIT } from '../../cel/limits.ts';
import { formatDuration, formatTimestamp } from '../../cel/time.ts';
import {
  Double,
  Duration,
  EvalError,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  canonicalInt,
  fail,
  isMap,
  stringMap,
  typeName,
} from '../../cel/values.ts';
import type { MapValue, Outcome, Value } from '../../cel/values.ts';

/** Maximum nesting of a JSON text, parsed or generated. */
export const JSON_DEPTH_LIMIT = 64;
/** Maximum length of an encoded text, in UTF-16 units. */
export const JSON_LIMIT_UNITS = 1_000_000;

/** Parses JSON (RFC 8259). Numbers become doubles, as in CEL; objects become maps. */
export function decodeJson(text: string): Outcome {
  let plain: unknown;
  try {
    plain = JSON.parse(text);
  } catch {
    return fail('expr.invalid_argument', 'the text is not JSON');
  }
  return valueOf(plain, (number) => new Double(number));
}

/**
 * The run-time value of plain data, such as members of a configuration: integral numbers become ints.
 * Functions, symbols and nesting beyond the limit give an error.
 */
export function valueOfPlain(plain: unknown): Outcome {
  return valueOf(plain, (number) =>
    Number.isSafeInteger(number)
      ? number + 0
      : Number.isInteger(number)
        ? wholeOf(number)
        : new Double(number),
  );
}

function wholeOf(number: number): Value {
  return Math.abs(number) < 2 ** 63 ? canonicalInt(BigInt(number)) : new Double(number);
}

type ToNumber = (number: number) => Value;

function valueOf(plain: unknown, toNumber: ToNumber, depth = 0): Outcome {
  if (plain === null || typeof plain === 'string' || typeof plain === 'boolean') return plain;
  if (typeof plain === 'number') return toNumber(plain);
  if (typeof plain === 'bigint') return canonicalInt(plain);
  if (typeof plain !== 'object') return fail('expr.invalid_argument', 'this is not plain data');
  if (depth >= JSON_DEPTH_LIMIT) return tooDeep();
  if (Array.isArray(plain)) {
    const values: Value[] = [];
    for (const member of plain as unknown[]) {
      const value = valueOf(member, toNumber, depth + 1);
      if (value instanceof EvalError) return value;
      values.push(value);
    }
    return values;
  }
  const map = stringMap();
  for (const [key, member] of Object.entries(plain)) {
    const value = valueOf(member, toNumber, depth + 1);
    if (value instanceof EvalError) return value;
    map[key] = value;
  }
  return map;
}

function tooDeep(): EvalError {
  return fail('expr.limit_exceeded', `JSON is nested deeper than ${JSON_DEPTH_LIMIT} levels`);
}

/**
 * Encodes a value as JSON without white space: bytes as base64, times as RFC 3339, durations as seconds, map
 * keys as strings. NaN, infinities, types and empty optionals have no JSON form.
 */
export function encodeJson(value: Value): string | EvalError {
  const writer: Writer = { left: JSON_LIMIT_UNITS };
  return write(writer, value, 0);
}

interface Writer {
  left: number;
}

function write(writer: Writer, value: Value, depth: number): string | EvalError {
  const text = writeValue(writer, value, depth);
  if (text instanceof EvalError) return text;
  // Values with shared members can be far larger serialised than in memory: every level is counted.
  writer.left -= text.length;
  return writer.left < 0 ? fail('expr.limit_exceeded', 'the JSON text is too long') : text;
}

function writeValue(writer: Writer, value: Value, depth: number): string | EvalError {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Double) return writeNumber(value.value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (value instanceof Timestamp) return JSON.stringify(formatTimestamp(value));
  if (value instanceof Duration) return JSON.stringify(formatDuration(value));
  if (depth >= JSON_DEPTH_LIMIT) return tooDeep();
  if (Array.isArray(value)) return writeList(writer, value as readonly Value[], depth);
  if (isMap(value)) return writeMap(writer, value, depth);
  if (value instanceof Optional && value.value !== undefined)
    return writeValue(writer, value.value, depth + 1);
  return value instanceof TypeValue || value instanceof Optional
    ? fail('expr.invalid_argument', `a value of type ${typeName(value)} has no JSON form`)
    : writeObject(writer, value, depth);
}

function writeNumber(number: number): string | EvalError {
  return Number.isFinite(number)
    ? JSON.stringify(number)
    : fail('expr.invalid_argument', `${number} has no JSON form`);
}

function writeList(writer: Writer, values: readonly Value[], depth: number): string | EvalError {
  const texts: string[] = [];
  for (const value of values) {
    const text = write(writer, value, depth + 1);
    if (text instanceof EvalError) return text;
    texts.push(text);
  }
  return `[${texts.join(',')}]`;
}

function writeMap(writer: Writer, map: MapValue, depth: number): string | EvalError {
  const entries: (readonly [string, Value])[] = [];
  for (const key of keysOfMap(map)) entries.push([keyText(key), lookUp(map, key)!]);
  return writeEntries(writer, entries, depth);
}

/** A value with fields: as its class defines (a string with fields is its string), otherwise its members. */
function writeObject(writer: Writer, value: object, depth: number): string | EvalError {
  const text = ownText(value);
  if (text !== undefined) return JSON.stringify(text);
  const members = Object.entries(value).filter((entry) => entry[1] !== undefined);
  return writeEntries(writer, members as (readonly [string, Value])[], depth);
}

function writeEntries(
  writer: Writer,
  entries: readonly (readonly [string, Value])[],
  depth: number,
): string | EvalError {
  const texts: string[] = [];
  for (const [key, value] of entries) {
    const text = write(writer, value, depth + 1);
    if (text instanceof EvalError) return text;
    texts.push(`${JSON.stringify(key.toWellFormed())}:${text}`);
  }
  return `{${texts.join(',')}}`;
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  return String(key instanceof Uint ? key.value : (key as number | bigint | boolean));
}

/** Units for traversing a value; at most `most`, even if members are shared. */
export function unitsOf(value: Value, most = 2_000_000): number {
  const counter = { left: most };
  count(value, counter);
  return most - counter.left;
}

function count(value: Value, counter: { left: number }): void {
  counter.left -= 1;
  if (counter.left <= 0) return;
  if (typeof value === 'string' || value instanceof Uint8Array) {
    counter.left -= Math.min(counter.left, value.length / CHARACTERS_PER_UNIT);
  } else if (Array.isArray(value)) {
    for (const member of value as readonly Value[]) if (counter.left > 0) count(member, counter);
  } else if (typeof value === 'object' && value !== null && isMap(value)) {
    for (const key of keysOfMap(value)) {
      if (counter.left > 0) count(key, counter);
      if (counter.left > 0) count(lookUp(value, key)!, counter);
    }
  }
}

/** A value as part of a text: strings as they are, times as RFC 3339, lists and maps as JSON. */
export function textOf(value: Value): string | EvalError {
  if (typeof value === 'string') return value;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Double && !Number.isFinite(value.value)) return String(value.value);
  if (value instanceof Uint8Array) return textOfBytes(value);
  if (value instanceof TypeValue) return value.name;
  const text = ownText(value);
  return text ?? encodeJson(value);
}

/** The string of a string with fields, as its class defines; needed only for `dyn`. */
function ownText(value: Value): string | undefined {
  if (typeof value !== 'object' || value === null || isMap(value)) return undefined;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? String(toJSON.call(value)) : undefined;
}

/** Bytes decoded as UTF-8. */
export function textOfBytes(bytes: Uint8Array): string | EvalError {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail('expr.invalid_argument', 'the bytes are not UTF-8 text');
  }
}
