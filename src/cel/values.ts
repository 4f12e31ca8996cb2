import type { Span } from '../diagnostics/diagnostic.ts';

/**
 * Run-time values. Chosen so that what policies do most (strings, booleans, small integers, lists of
 * strings) needs no wrapper:
 *
 * | CEL          | JavaScript                                                                              |
 * |--------------|-----------------------------------------------------------------------------------------|
 * | null, bool   | `null`, `boolean`                                                                       |
 * | int          | `number` when a safe integer, else `bigint`; canonical, so `===` compares. Never `-0`    |
 * | uint         | `Uint` (its `value` follows the same rule as int)                                       |
 * | double       | `Double`; a bare `number` is always an int                                              |
 * | string       | `string`; length, index and order are by code point where they differ from UTF-16       |
 * | bytes        | `Uint8Array`, never written to                                                          |
 * | list         | array, never written to                                                                 |
 * | map          | `CelMap` (any keys), or a string map: an object made by `stringMap()` / `headerFields()` |
 * | timestamp    | `Timestamp`; duration: `Duration` (seconds and nanoseconds)                             |
 * | type         | `TypeValue`; optional: `Optional`                                                       |
 * | object       | any other object; its fields are what its `ObjectType` declares                         |
 *
 * An evaluation gives a `Value` or an `EvalError`; `undefined` only ever means "absent".
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | Uint
  | Double
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | MapValue
  | ObjectValue;

export type Outcome = Value | EvalError;

export type MapValue = CelMap | StringMap;

/** A map with string keys: an object with an empty prototype and keys as own properties. */
export interface StringMap {
  readonly [key: string]: Value;
}

/** A value with declared fields; the engine reads it only through its `ObjectType`. */
export type ObjectValue = object;

export type EvalErrorCode =
  | 'expr.no_such_overload'
  | 'expr.no_such_key'
  | 'expr.no_such_field'
  | 'expr.unknown_variable'
  | 'expr.absent'
  | 'expr.overflow'
  | 'expr.divide_by_zero'
  | 'expr.index_out_of_range'
  | 'expr.invalid_argument'
  | 'expr.invalid_pattern'
  | 'expr.duplicate_key'
  | 'expr.budget_exceeded'
  | 'expr.limit_exceeded'
  | 'expr.internal';

/** An error as a value. `span` is the part of the source that caused it; the planner sets it. */
export class EvalError {
  readonly code: EvalErrorCode;
  readonly message: string;
  readonly span: Span | undefined;

  constructor(code: EvalErrorCode, message: string, span?: Span) {
    this.code = code;
    this.message = message;
    this.span = span;
  }
}

/** The return value of an implementation that fails. The planner adds the call's span. */
export function fail(code: EvalErrorCode, message: string): EvalError {
  return new EvalError(code, message);
}

/** The same error at a place, unless it already has one. */
export function errorAt(error: EvalError, span: Span): EvalError {
  return error.span === undefined ? new EvalError(error.code, error.message, span) : error;
}

export class Uint {
  readonly value: number | bigint;

  constructor(value: number | bigint) {
    this.value = value;
  }
}

export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A point in time: whole seconds since the epoch (floor) plus 0 to 999,999,999 nanoseconds. */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

/** A duration: whole seconds (floor) plus 0 to 999,999,999 nanoseconds, so `-0.5s` is (-1, 5e8). */
export class Duration {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

/** A type as a value, as returned by `type(1)`; equal by name. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** `optional.of(value)`, or `optional.none()` when `value` is undefined. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** Keys for comparison: numbers of all three kinds by value, strings and booleans as they are. */
export type CanonicalKey = string | number | bigint | boolean;

/** A map with keys of any kind. `1`, `1u` and `1.0` are one key; iteration gives the first spelling. */
export class CelMap {
  readonly slots: ReadonlyMap<CanonicalKey, readonly [key: Value, value: Value]>;

  constructor(slots: ReadonlyMap<CanonicalKey, readonly [key: Value, value: Value]>) {
    this.slots = slots;
  }
}

/** The lookup form of a key; undefined if no map can have the key. */
export function canonicalKey(key: Value): CanonicalKey | undefined {
  if (typeof key !== 'object') return key;
  if (key instanceof Uint) return key.value;
  if (key instanceof Double && Number.isInteger(key.value)) return canonicalInt(BigInt(key.value));
  return undefined;
}

const FOLDS_CASE = Symbol('folds case');
const STRING_MAP_PROTOTYPE: object = Object.freeze(Object.create(null));
const HEADER_FIELDS_PROTOTYPE: object = Object.freeze(Object.create(null, { [FOLDS_CASE]: { value: true } }));

// Constructors with an empty prototype: such objects stay in V8's fast mode, which `Object.create(null)` does
// not.
const NewStringMap = function () {} as unknown as new () => Record<string, Value>;
NewStringMap.prototype = STRING_MAP_PROTOTYPE;
const NewHeaderFields = function () {} as unknown as new () => Record<string, Value>;
NewHeaderFields.prototype = HEADER_FIELDS_PROTOTYPE;

/** An empty string map, to be filled once and then not changed. `__proto__` is an ordinary key of it. */
export function stringMap(): Record<string, Value> {
  return new NewStringMap();
}

/** An empty header map, to be filled with lower-case names; lookups ignore case even if its type is unknown. */
export function headerFields(): Record<string, Value> {
  return new NewHeaderFields();
}

function isStringMap(value: object): value is StringMap {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === STRING_MAP_PROTOTYPE || prototype === HEADER_FIELDS_PROTOTYPE || prototype === null;
}

export function foldsCase(value: object): boolean {
  return Object.getPrototypeOf(value) === HEADER_FIELDS_PROTOTYPE;
}

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
export const UINT64_MAX = 2n ** 64n - 1n;

/** An integer in its canonical representation; the caller has checked the range. */
export function canonicalInt(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

export function isError(outcome: Outcome): outcome is EvalError {
  return outcome instanceof EvalError;
}

export function isMap(value: Value): value is MapValue {
  return typeof value === 'object' && value !== null && (value instanceof CelMap || isStringMap(value));
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The CEL name of a run-time value's type. */
export function typeName(value: Value): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'object') return 'int';
  if (value === null) return 'null_type';
  return Array.isArray(value) ? 'list' : objectTypeName(value);
}

function objectTypeName(value: object): string {
  if (value instanceof Double) return 'double';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  return value instanceof CelMap || isStringMap(value) ? 'map' : 'object';
}
