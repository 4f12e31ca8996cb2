import type {
  Duration,
  Double,
  MapValue,
  ObjectValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  Value,
} from './values.ts';

/**
 * CEL types as plain data. Compare with `sameType`, never by reference.
 *
 * `object` is a value with declared fields (`req.url`). With `text` it is also a string ("string with fields"):
 * it keeps its fields through paths, `cel.bind` and `? :`, and decays to the plain string that `text` returns
 * wherever a string or `dyn` is required: comparison, `in`, literals, arguments, the final result.
 *
 * `map` with `foldsCase` is a header map: keys are stored in lower case and every lookup folds its key.
 */
export type Type =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly key: Type; readonly value: Type; readonly foldsCase?: boolean }
  | { readonly kind: 'optional'; readonly value: Type }
  /** A type parameter of one overload, such as `T` in `list(T) + list(T)`. */
  | { readonly kind: 'parameter'; readonly name: string }
  | ObjectType;

type SimpleKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type';

export interface ObjectType {
  readonly kind: 'object';
  /** Unique name; object types with the same name are the same type. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** Present if the object is also a string. */
  readonly text?: (object: never) => string;
}

export interface Field {
  readonly type: Type;
  /** One sentence for the generated page and for completion. */
  readonly doc: string;
  /** May be absent at run time; `read` then returns undefined and selection is an error value. */
  readonly optional?: boolean;
  /** What a selection gives if the field is absent, as with unset messages of CEL: only `has()` tells. */
  readonly unset?: Value;
  /** Often absent: reading it without a test gives a warning. */
  readonly oftenAbsent?: boolean;
  /** A literal property access, `(url) => url.path`, so that each field has its own inline cache. */
  readonly read?: (object: never) => Value | undefined;
}

/** A type tagged with its JavaScript type, from which argument types of implementations are inferred. */
export type Carries<T> = Type & { readonly carries?: T };

/** The JavaScript type that implementations see for a CEL type. */
export type ValueOf<T> = T extends { readonly carries?: infer V }
  ? unknown extends V
    ? Value
    : Exclude<V, undefined>
  : Value;

export const DYN: Carries<Value> = { kind: 'dyn' };
/** The element type of an empty list or optional: not determined, so that any other type takes precedence. */
export const UNSET: Carries<Value> = { kind: 'dyn' };
export const NULL: Carries<null> = { kind: 'null' };
export const BOOL: Carries<boolean> = { kind: 'bool' };
export const INT: Carries<number | bigint> = { kind: 'int' };
export const UINT: Carries<Uint> = { kind: 'uint' };
export const DOUBLE: Carries<Double> = { kind: 'double' };
export const STRING: Carries<string> = { kind: 'string' };
export const BYTES: Carries<Uint8Array> = { kind: 'bytes' };
export const TIMESTAMP: Carries<Timestamp> = { kind: 'timestamp' };
export const DURATION: Carries<Duration> = { kind: 'duration' };
export const TYPE: Carries<TypeValue> = { kind: 'type' };

export function list<T extends Type>(element: T): Carries<readonly ValueOf<T>[]> {
  return { kind: 'list', element };
}

export function map(key: Type, value: Type): Carries<MapValue> {
  return { kind: 'map', key, value };
}

/** A header map: `map(string, list(string))` with lower-case keys and case-insensitive lookup. */
export function headerMap(value: Type = list(STRING)): Carries<MapValue> {
  return { kind: 'map', key: STRING, value, foldsCase: true };
}

export function optional(value: Type): Carries<Optional> {
  return { kind: 'optional', value };
}

export function parameter(name: string): Carries<Value> {
  return { kind: 'parameter', name };
}

/** Makes the fields of one kind of value. */
export function fieldsOf<Of>() {
  const making =
    (more: Pick<Field, 'optional' | 'oftenAbsent'>) =>
    (type: Type, doc: string, read: (value: Of) => Value | undefined): Field => ({
      type,
      doc,
      read,
      ...more,
    });
  return {
    present: making({}),
    optional: making({ optional: true }),
    oftenAbsent: making({ optional: true, oftenAbsent: true }),
  };
}

/** A value with declared fields. Use literal property accesses for `read` where speed matters. */
export function object(name: string, fields: Readonly<Record<string, Field>>): Carries<ObjectValue> {
  return { kind: 'object', name, fields };
}

/** A value that is a string and has fields; `text` returns the string. */
export function stringWithFields<O extends object>(
  name: string,
  fields: Readonly<Record<string, Field>>,
  text: (value: O) => string,
): Carries<O> {
  return { kind: 'object', name, fields, text };
}

export function isTextual(type: Type): boolean {
  return type.kind === 'string' || (type.kind === 'object' && type.text !== undefined);
}

/** The type as a plain value: a string with fields becomes a string. */
export function decayed(type: Type): Type {
  return type.kind === 'object' && type.text !== undefined ? STRING : type;
}

export function sameType(left: Type, right: Type): boolean {
  if (left === right) return true;
  if (left.kind === 'list') return right.kind === 'list' && sameType(left.element, right.element);
  if (left.kind === 'optional') return right.kind === 'optional' && sameType(left.value, right.value);
  if (left.kind === 'map') {
    return right.kind === 'map' && sameType(left.key, right.key) && sameType(left.value, right.value);
  }
  if (left.kind === 'object') return right.kind === 'object' && left.name === right.name;
  if (left.kind === 'parameter') return right.kind === 'parameter' && left.name === right.name;
  return left.kind === right.kind;
}

/** A type in the notation of messages and documentation: `map(string, list(string))`. */
export function formatType(type: Type): string {
  if (type.kind === 'list') return `list(${formatType(type.element)})`;
  if (type.kind === 'map') return `map(${formatType(type.key)}, ${formatType(type.value)})`;
  if (type.kind === 'optional') return `optional_type(${formatType(type.value)})`;
  if (type.kind === 'object' || type.kind === 'parameter') return type.name;
  return type.kind;
}
