import { weakMemoizeRecurring } from '../caches/weak_memoize.ts';
import type { FieldList } from '../http/fields.ts';
import { mayHoldSecret, withoutSecret } from '../http/secrets.ts';
import type { NormalisedHeaders } from './field_types.ts';

/** Maximum number of cached texts of each kind; names and values usually repeat, but clients can send any. */
const CACHE_SIZE = 4_096;
const CACHED_UNITS = 256;

/** Caches the results for short texts; the cache is cleared when it is full. */
function cached<Made>(make: (text: string) => Made): (text: string) => Made {
  const known = new Map<string, Made>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (text.length <= CACHED_UNITS) {
      if (known.size >= CACHE_SIZE) known.clear();
      known.set(text, made);
    }
    return made;
  };
}

/** `x-FORWARDED-for` → `X-Forwarded-For`. */
const capitalised = cached((name) =>
  name
    .toLowerCase()
    .replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase()),
);

/** A lower-case value as a list with one element; shared and frozen. */
const valueListOf = cached((value): readonly string[] => Object.freeze([value.toLowerCase()]));

type Values = (value: string) => readonly string[];

const HIDDEN = new Map<string, Values>();

/**
 * Returns the values of a field for events. Secrets are redacted, so that readers of events cannot
 * impersonate users.
 */
function valuesOf(name: string): Values {
  const lower = name.toLowerCase();
  if (!mayHoldSecret(lower)) return valueListOf;
  let hidden = HIDDEN.get(lower);
  if (hidden === undefined) {
    hidden = (value) => [withoutSecret(lower, value).toLowerCase()];
    if (HIDDEN.size < SHAPE_LIMIT) HIDDEN.set(lower, hidden);
  }
  return hidden;
}

/** The capitalised field names of a message in order, and an empty object with these members. */
interface Shape {
  readonly names: readonly string[];
  readonly keys: readonly string[];
  readonly values: readonly Values[];
  readonly empty: Readonly<Record<string, readonly string[]>>;
}

const SHAPE_LIMIT = 8;
const NO_VALUES: readonly string[] = Object.freeze([]);

/**
 * The most recent shapes: similar clients send the same names in the same order, and filling an object with
 * existing members takes half the time of creating them one by one.
 */
const shapes: Shape[] = [];
let oldest = 0;

/** Header fields in events: capitalised names, lower-case values in order. */
export const normaliseHeaders: (fields: FieldList) => NormalisedHeaders = weakMemoizeRecurring((fields) => {
  const shape = shapeOf(fields);
  if (shape === undefined) return computeHeaders(fields);
  const out: Record<string, readonly string[]> = { ...shape.empty };
  const { keys, values } = shape;
  for (let at = 0; at < keys.length; at++) out[keys[at]!] = values[at]!(fields[2 * at + 1]!);
  return out;
});

function shapeOf(fields: FieldList): Shape | undefined {
  for (const shape of shapes) {
    const { names } = shape;
    if (names.length * 2 !== fields.length) continue;
    let at = 0;
    while (at < names.length && names[at] === fields[2 * at]) at++;
    if (at === names.length) return shape;
  }
  return undefined;
}

function computeHeaders(fields: FieldList): NormalisedHeaders {
  const out: Record<string, readonly string[]> = {};
  const names: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = capitalised(fields[at]!);
    const values = valuesOf(fields[at]!)(fields[at + 1]!);
    names.push(fields[at]!);
    const before = out[name];
    if (before === undefined) out[name] = values;
    else put(out, name, Object.hasOwn(out, name) ? [...before, ...values] : values);
  }
  // Repeated names and names of built-in properties are handled line by line.
  const keys = Object.keys(out);
  if (keys.length === names.length && keys.every((key) => !(key in Object.prototype)))
    cacheShape(names, keys);
  return out;
}

function cacheShape(names: readonly string[], keys: readonly string[]): void {
  if (names.some((name) => name.length > CACHED_UNITS)) return;
  const empty = Object.fromEntries(keys.map((key) => [key, NO_VALUES]));
  shapes[oldest++ % SHAPE_LIMIT] = {
    names,
    keys: names.map(capitalised),
    values: names.map(valuesOf),
    empty,
  };
}

/** Handles field names that are also built-in properties of objects. */
function put(out: Record<string, readonly string[]>, name: string, value: readonly string[]): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
