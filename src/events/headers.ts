import { memoizeRecurring } from '../caches/recurring.ts';
import type { FieldList } from '../http/fields.ts';
import { mayHoldSecret, withoutSecret } from '../http/secrets.ts';
import type { NormalisedHeaders } from './field_types.ts';

/** Longer names and values are not kept: clients can send any. */
const KEPT_UNITS = 256;

/** `x-FORWARDED-for` → `X-Forwarded-For`. */
function capitalised(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());
}

type Values = readonly string[];

/** A field of messages with the same names: how it is named in events, and what its value was the last time. */
interface Place {
  readonly name: string;
  readonly key: string;
  /** The name in lower case if values may have secrets, which readers of events must not get. */
  readonly secret: string | null;
  value: string;
  /** Frozen, as it is shared; null until the value has come twice. */
  values: Values | null;
}

function placeOf(name: string): Place {
  const lower = name.toLowerCase();
  const secret = mayHoldSecret(lower) ? lower : null;
  return { name, key: capitalised(name), secret, value: '', values: null };
}

/** The value of a field as a list with one element. Values often repeat, and those that do not are not looked up. */
function valuesAt(place: Place, value: string): Values {
  if (value === place.value) return (place.values ??= Object.freeze(shown(place, value)));
  if (value.length <= KEPT_UNITS) {
    place.value = value;
    place.values = null;
  }
  return shown(place, value);
}

function shown({ secret }: Place, value: string): [string] {
  if (secret === null) return [value.toLowerCase()];
  // Most cookies are in lower case already, and what is made of them is of many parts.
  if (secret === 'cookie') return [withoutSecret(secret, value.toLowerCase())];
  return [withoutSecret(secret, value).toLowerCase()];
}

/** The fields of a message in order, and an object with their members. */
interface Shape {
  readonly places: readonly Place[];
  readonly empty: Readonly<Record<string, Values>>;
}

const SHAPE_LIMIT = 8;
const NO_VALUES: Values = Object.freeze([]);

/**
 * The most recent shapes: similar clients send the same names in the same order, and filling an object with
 * existing members takes half the time of creating them one by one.
 */
const shapes: Shape[] = [];
let oldest = 0;

/** Header fields in events: capitalised names, lower-case values in order. */
export const normaliseHeaders: (fields: FieldList) => NormalisedHeaders = memoizeRecurring((fields) => {
  const shape = shapeOf(fields);
  if (shape === undefined) return computeHeaders(fields);
  const out: Record<string, Values> = { ...shape.empty };
  const { places } = shape;
  for (let at = 0; at < places.length; at++) {
    const place = places[at]!;
    out[place.key] = valuesAt(place, fields[2 * at + 1]!);
  }
  return out;
});

function shapeOf(fields: FieldList): Shape | undefined {
  for (let index = 0; index < shapes.length; index++) {
    const shape = shapes[index]!;
    const { places } = shape;
    if (places.length * 2 !== fields.length) continue;
    let at = 0;
    while (at < places.length && places[at]!.name === fields[2 * at]) at++;
    if (at === places.length) return shape;
  }
  return undefined;
}

function computeHeaders(fields: FieldList): NormalisedHeaders {
  const out: Record<string, Values> = {};
  const places: Place[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const place = placeOf(fields[at]!);
    const values = shown(place, fields[at + 1]!);
    places.push(place);
    const before = out[place.key];
    if (before === undefined) out[place.key] = values;
    else put(out, place.key, Object.hasOwn(out, place.key) ? [...before, ...values] : values);
  }
  // Repeated names and names of built-in properties are handled line by line.
  const keys = Object.keys(out);
  if (keys.length === places.length && keys.every((key) => !(key in Object.prototype))) keepShape(places);
  return out;
}

function keepShape(places: readonly Place[]): void {
  if (places.some(({ name }) => name.length > KEPT_UNITS)) return;
  const empty = Object.fromEntries(places.map(({ key }) => [key, NO_VALUES]));
  shapes[oldest++ % SHAPE_LIMIT] = { places, empty };
}

/** Handles field names that are also built-in properties of objects. */
function put(out: Record<string, Values>, name: string, value: Values): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
