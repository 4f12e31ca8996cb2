import { weakMemoize } from '../caches/weak_memoize.ts';
import { entryAbove, isObject, ownerOf, ownerWith } from './misplaced_keys.ts';
import { UNREADABLE } from './document.ts';
import type { Depart, Extension, MissingKey, Shape, ShapeCache } from './shape.ts';
import { counting, type Left, pointerWithin, reporting, type Shaping, wrongType } from './shaping.ts';
import { formDeparture, wordDeparture } from './text_departures.ts';

/**
 * Validates a value against a shape and returns it with defaults filled in. All departures are reported, not
 * only the first; invalid parts are undefined in the result, so that the valid rest can be checked further.
 * `known` is a cache for repeated validation of values that share most of their objects.
 */
export function shaped(
  shape: Shape,
  value: unknown,
  pointer: string,
  depart: Depart,
  known?: ShapeCache,
): unknown {
  // Nearly all values are valid, so pointers are built only in a second pass, for invalid ones.
  const quiet = counting(known);
  const result = shapedPart(shape, value, pointer, quiet);
  return quiet.departures === 0
    ? result
    : shapedPart(shape, value, pointer, reporting(depart, known, undefined));
}

/** As `shaped`, for documents with special keywords: an extension reports its own findings, so there is one pass. */
export function shapedWith<S extends Shape>(
  extension: Extension<S>,
  shape: S,
  value: unknown,
  pointer: string,
  depart: Depart<S>,
): unknown {
  // All shapes below one of type S are of this type.
  const shaping = reporting(depart as Depart, undefined, extension as unknown as Extension<Shape>);
  return shapedPart(shape, value, pointer, shaping);
}

/** Adds a value that is valid, with its defaults, to the cache of another validation: its objects are their own results. */
export function rememberShaped(shape: Shape, value: unknown, known: ShapeCache): void {
  const fitting = shape.anyOf === undefined ? shape : shape.anyOf.find((each) => hasTypeOf(each, value));
  if (fitting === undefined || typeof value !== 'object' || value === null) return;
  const { items, properties, additionalProperties } = fitting;
  if (properties !== undefined) known.set(value, { shape: fitting, result: value });
  for (const [key, part] of Object.entries(value)) {
    const inner = Array.isArray(value) ? items : (properties?.[key] ?? additionalProperties);
    if (inner !== undefined && inner !== false) rememberShaped(inner, part, known);
  }
}

function shapedPart(shape: Shape, value: unknown, pointer: string, shaping: Shaping): unknown {
  if (value === UNREADABLE) return undefined;
  const reader = shaping.extension?.reader(shape);
  if (reader !== undefined) return reader(value, pointer);
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

/** An object with known keys; an undefined value counts as an absent key. */
function shapedRecord(
  shape: Shape,
  properties: Readonly<Record<string, Shape>>,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
  shaping: Shaping,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const unknown: string[] = [];
  let nulls: Set<string> | undefined;
  const names = shaping.extension?.fieldNames(shape, value, pointer);
  for (const key of Object.keys(value)) {
    const field = names === undefined ? key : names.get(key);
    if (field === null) continue;
    const name = field ?? key;
    const property = Object.hasOwn(properties, name) ? properties[name]! : null;
    const given = value[key];
    if (property === null) unknown.push(key);
    else if (given === null && shaping.extension?.isNullAbsent === true) (nulls ??= new Set()).add(name);
    else if (given !== undefined)
      result[name] = shapedPart(property, given, pointerWithin(pointer, key, shaping), shaping);
  }
  if (unknown.length > 0) {
    const known = Object.keys(properties);
    for (const key of unknown) {
      const owner = ownerOf(key, properties, value);
      shaping.depart(pointer, { kind: 'unknown_key', key, known, owner });
    }
  }
  let missing: MissingKey[] | undefined;
  for (const key of keysOnTheirOwn(shape)) {
    if (Object.hasOwn(result, key)) continue;
    const property = properties[key]!;
    const isNull = nulls?.has(key) === true;
    if (property.default !== undefined) result[key] = copyOf(property.default);
    else (missing ??= []).push({ key, shape: property, isNull, within: ownerWith(key, value) });
  }
  if (missing !== undefined) shaping.depart(pointer, { kind: 'missing_keys', missing, unknown });
  return result;
}

function copyOf(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value;
}

/** Keys that matter if absent: required ones and ones with a default. */
const keysOnTheirOwn = weakMemoize(({ properties = {}, required }: Shape): readonly string[] =>
  Object.keys(properties).filter(
    (key) => properties[key]!.default !== undefined || required?.includes(key) === true,
  ),
);

/**
 * An object with arbitrary keys and values of one shape. The key of an invalid value is kept, because other
 * parts may refer to it.
 */
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
      shaping.depart(pointer, { kind: 'bad_name', shape: names, key, form: names.form ?? 'another name' });
    } else {
      const item = shape.additionalProperties || {};
      const at = pointerWithin(pointer, key, shaping);
      const isMisplaced = Object.hasOwn(item.properties ?? {}, key) && !hasTypeOf(item, given);
      const meantFor = isMisplaced ? entryAbove(value, key) : undefined;
      result[key] = isMisplaced
        ? wrongType(item, given, at, shaping, meantFor)
        : shapedPart(item, given, at, shaping);
    }
  }
  return result;
}

function shapedList(shape: Shape, value: readonly unknown[], pointer: string, shaping: Shaping): unknown[] {
  const { minItems = 0, maxItems = Infinity } = shape;
  const size = value.length;
  if (size < minItems) shaping.depart(pointer, { kind: 'empty', shape, of: 'list' });
  if (size > maxItems)
    shaping.depart(pointer, { kind: 'too_long', shape, unit: 'entries', size, limit: maxItems });
  const item = shape.items ?? {};
  // `Array.from` visits the holes of a sparse array too.
  const items = Array.from(value, (given, index) =>
    shapedPart(item, given, pointerWithin(pointer, index, shaping), shaping),
  );
  if (shape.uniqueItems === true) reportDuplicates(shape, items, pointer, shaping);
  return items;
}

function reportDuplicates(shape: Shape, items: readonly unknown[], pointer: string, shaping: Shaping): void {
  const seen = new Set<unknown>();
  for (const [index, received] of items.entries()) {
    if (received !== undefined && seen.has(received))
      shaping.depart(pointerWithin(pointer, index, shaping), { kind: 'duplicate', shape, received });
    seen.add(received);
  }
}

function shapedText(shape: Shape, value: string, pointer: string, shaping: Shaping): string | Left {
  const { extension } = shaping;
  let departure = wordDeparture(shape, value);
  if (departure === null) {
    if (extension?.isDeferred(shape, value, pointer) === true) return value;
    departure = formDeparture(shape, value);
  }
  if (departure === null) return extension === undefined ? value : extension.text(shape, value, pointer);
  shaping.depart(pointer, departure);
  return undefined;
}

function shapedNumber(shape: Shape, value: unknown, pointer: string, shaping: Shaping): number | Left {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber || (shape.type === 'integer' && !Number.isInteger(value))) {
    return wrongType(shape, value, pointer, shaping);
  }
  if (value >= (shape.minimum ?? -Infinity) && value <= (shape.maximum ?? Infinity)) return value;
  shaping.depart(pointer, { kind: 'out_of_range', shape, received: value });
  return undefined;
}
