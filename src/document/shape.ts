import { pointerTo } from '../diagnostics/diagnostic.ts';
import { UNREADABLE } from './document.ts';

/** What all readers of generated schemas understand of JSON Schema (draft 7); `form` has the words for a `pattern`. */
export interface JsonShape<Self> {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Self>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Self;
  readonly items?: Self;
  readonly minItems?: number;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly pattern?: string;
  readonly form?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * What this reader understands besides, and two keywords of our own: `maxBytes` and `enumAnyCase`. The schemas of edge and
 * scenario files use nothing else.
 */
export interface Shape extends JsonShape<Shape> {
  readonly description?: string;
  readonly propertyNames?: Shape;
  readonly enumAnyCase?: readonly string[];
  readonly maxBytes?: number;
  /** Alternatives of different types: the type of a value tells which one it has to fit. */
  readonly anyOf?: readonly Shape[];
}

/** How a value departs from its shape. */
export type Departure =
  | { readonly kind: 'unknown_key'; readonly key: string; readonly known: readonly string[] }
  | {
      readonly kind: 'missing_key';
      readonly key: string;
      readonly shape: Shape;
      readonly unknown: readonly string[];
    }
  | { readonly kind: 'wrong_type'; readonly shape: Shape; readonly received: unknown }
  | { readonly kind: 'unknown_value'; readonly allowed: readonly string[]; readonly received: string }
  | { readonly kind: 'out_of_range'; readonly shape: Shape; readonly received: number }
  | { readonly kind: 'too_long'; readonly limitBytes: number; readonly bytes: number }
  | { readonly kind: 'empty'; readonly of: 'list' | 'text' }
  | { readonly kind: 'bad_form'; readonly form: string; readonly received: string }
  | { readonly kind: 'bad_name'; readonly form: string; readonly key: string };

/** Takes a departure and the pointer of the value; for keys that of the map they stand in. */
export type Depart = (pointer: string, departure: Departure) => void;

/**
 * Records that fit their shape, and what was made of them, by identity: only for values that never change. Whoever
 * hands one in has unchanged parts of the next value compared once, and gets the same result for them.
 */
export type KnownShapes = WeakMap<object, { readonly shape: Shape; readonly result: object }>;

/** A comparison on its way. */
interface Shaping {
  readonly depart: Depart;
  /** Whether departures are told with their pointers, or only counted. */
  readonly tells: boolean;
  readonly known: KnownShapes | undefined;
  /** How many were told so far. */
  departures: number;
}

/** A part that departs from its shape, left out of the result. */
type Left = undefined;

/**
 * Compares a value with a shape and returns it with defaults filled in. Every departure is told, not only the
 * first; what departs is undefined in the result, so that the sound rest can be checked further. `known` is for whoever
 * compares values again of which most parts are the same objects.
 */
export function shaped(
  shape: Shape,
  value: unknown,
  pointer: string,
  depart: Depart,
  known?: KnownShapes,
): unknown {
  // Nearly all values fit, so pointers are made in a second turn, for those that do not.
  const quiet: Shaping = { depart: () => quiet.departures++, tells: false, known, departures: 0 };
  const result = shapedPart(shape, value, pointer, quiet);
  if (quiet.departures === 0) return result;
  const telling: Shaping = {
    depart: (at, departure) => {
      telling.departures++;
      depart(at, departure);
    },
    tells: true,
    known,
    departures: 0,
  };
  return shapedPart(shape, value, pointer, telling);
}

function pointerWithin(pointer: string, key: string | number, { tells }: Shaping): string {
  return tells ? pointerTo(pointer, key) : pointer;
}

function shapedPart(shape: Shape, value: unknown, pointer: string, shaping: Shaping): unknown {
  if (value === UNREADABLE) return undefined;
  if (shape.anyOf !== undefined) return shapedOneOf(shape, shape.anyOf, value, pointer, shaping);
  if (shape.type === undefined) return value;
  switch (shape.type) {
    case 'object':
      return isObject(value)
        ? shapedObject(shape, value, pointer, shaping)
        : wrongType(shape, value, pointer, shaping);
    case 'array':
      return Array.isArray(value)
        ? shapedList(shape, value, pointer, shaping)
        : wrongType(shape, value, pointer, shaping);
    case 'string':
      return typeof value === 'string'
        ? shapedText(shape, value, pointer, shaping)
        : wrongType(shape, value, pointer, shaping);
    case 'boolean':
      return typeof value === 'boolean' ? value : wrongType(shape, value, pointer, shaping);
    case 'integer':
    case 'number':
      return shapedNumber(shape, value, pointer, shaping);
  }
}

function shapedOneOf(
  shape: Shape,
  alternatives: readonly Shape[],
  value: unknown,
  pointer: string,
  shaping: Shaping,
): unknown {
  const fitting = alternatives.find((each) => hasTypeOf(each, value));
  return fitting === undefined
    ? wrongType(shape, value, pointer, shaping)
    : shapedPart(fitting, value, pointer, shaping);
}

function hasTypeOf({ type, anyOf }: Shape, value: unknown): boolean {
  if (anyOf !== undefined) return anyOf.some((each) => hasTypeOf(each, value));
  if (type === undefined) return true;
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  return typeof value === (type === 'integer' ? 'number' : type);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.prototype.toString.call(value) === '[object Object]'
  );
}

function wrongType(shape: Shape, received: unknown, pointer: string, shaping: Shaping): Left {
  shaping.depart(pointer, { kind: 'wrong_type', shape, received });
  return undefined;
}

function shapedObject(
  shape: Shape,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  shaping: Shaping,
): object {
  if (shape.properties === undefined) return shapedMap(shape, value, pointer, shaping);
  const before = shaping.known?.get(value);
  if (before?.shape === shape) return before.result;
  const departures = shaping.departures;
  const result = shapedRecord(shape, shape.properties, value, pointer, shaping);
  if (shaping.departures === departures) shaping.known?.set(value, { shape, result });
  return result;
}

/** An object of known keys; an undefined value counts as an absent key. */
function shapedRecord(
  shape: Shape,
  properties: Readonly<Record<string, Shape>>,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  shaping: Shaping,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const key of Object.keys(value)) {
    const property = Object.hasOwn(properties, key) ? properties[key]! : null;
    const given = value[key];
    if (property === null) unknown.push(key);
    else if (given !== undefined)
      result[key] = shapedPart(property, given, pointerWithin(pointer, key, shaping), shaping);
  }
  if (unknown.length > 0) {
    const known = Object.keys(properties);
    for (const key of unknown) shaping.depart(pointer, { kind: 'unknown_key', key, known });
  }
  for (const key of keysOnTheirOwn(shape, properties)) {
    if (Object.hasOwn(value, key) && value[key] !== undefined) continue;
    const property = properties[key]!;
    if (property.default !== undefined) result[key] = copyOf(property.default);
    else shaping.depart(pointer, { kind: 'missing_key', key, shape: property, unknown });
  }
  return result;
}

function copyOf(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value;
}

const onTheirOwn = new WeakMap<Shape, readonly string[]>();

/** Keys that matter when they are absent: those that are required, or have a default. */
function keysOnTheirOwn(shape: Shape, properties: Readonly<Record<string, Shape>>): readonly string[] {
  let keys = onTheirOwn.get(shape);
  if (keys === undefined) {
    keys = Object.keys(properties).filter(
      (key) => properties[key]!.default !== undefined || shape.required?.includes(key) === true,
    );
    onTheirOwn.set(shape, keys);
  }
  return keys;
}

/** An object of any keys, all of one shape. A value that departs leaves its key behind, for others may name it. */
function shapedMap(
  shape: Shape,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  shaping: Shaping,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const names = shape.propertyNames ?? {};
  const isName = names.pattern === undefined ? null : new RegExp(names.pattern);
  for (const [key, given] of Object.entries(value)) {
    if (given === undefined) continue;
    if (key === '__proto__' || isName?.test(key) === false) {
      shaping.depart(pointer, { kind: 'bad_name', key, form: names.form ?? 'another name' });
    } else {
      const item = shape.additionalProperties || {};
      result[key] = shapedPart(item, given, pointerWithin(pointer, key, shaping), shaping);
    }
  }
  return result;
}

function shapedList(shape: Shape, value: readonly unknown[], pointer: string, shaping: Shaping): unknown[] {
  if (value.length < (shape.minItems ?? 0)) shaping.depart(pointer, { kind: 'empty', of: 'list' });
  const item = shape.items ?? {};
  // `Array.from` visits the holes of a sparse array too.
  return Array.from(value, (given, index) =>
    shapedPart(item, given, pointerWithin(pointer, index, shaping), shaping),
  );
}

function shapedText(shape: Shape, value: string, pointer: string, shaping: Shaping): string | Left {
  const departure = textDeparture(shape, value);
  if (departure === null) return value;
  shaping.depart(pointer, departure);
  return undefined;
}

function textDeparture(shape: Shape, value: string): Departure | null {
  const { enum: allowed, enumAnyCase, maxBytes, pattern } = shape;
  if (allowed !== undefined && !allowed.includes(value))
    return { kind: 'unknown_value', allowed, received: value };
  if (enumAnyCase !== undefined && !enumAnyCase.includes(value.toLowerCase())) {
    return { kind: 'unknown_value', allowed: enumAnyCase, received: value };
  }
  if (value.length < (shape.minLength ?? 0)) return { kind: 'empty', of: 'text' };
  if (maxBytes !== undefined && Buffer.byteLength(value) > maxBytes) {
    return { kind: 'too_long', limitBytes: maxBytes, bytes: Buffer.byteLength(value) };
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return { kind: 'bad_form', form: shape.form ?? pattern, received: value };
  }
  return null;
}

function shapedNumber(shape: Shape, value: unknown, pointer: string, shaping: Shaping): number | Left {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber || (shape.type === 'integer' && !Number.isInteger(value))) {
    return wrongType(shape, value, pointer, shaping);
  }
  if (value < (shape.minimum ?? -Infinity) || value > (shape.maximum ?? Infinity)) {
    shaping.depart(pointer, { kind: 'out_of_range', shape, received: value });
    return undefined;
  }
  return value;
}
