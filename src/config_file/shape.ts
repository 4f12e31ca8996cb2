/**
 * The part of JSON Schema (draft 7) that the validator supports, and keywords of our own that all kinds of documents
 * may use. `form` describes a `pattern` in words.
 */
export interface Shape {
  readonly description?: string;
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean';
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Shape;
  readonly propertyNames?: Shape;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly enum?: readonly string[];
  readonly enumAnyCase?: readonly string[];
  readonly minLength?: number;
  /** In characters. */
  readonly maxLength?: number;
  readonly maxBytes?: number;
  readonly pattern?: string;
  readonly form?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /**
   * The pattern of scalars that stand for this member if they are written in place of its map, or of a map around that.
   * What its group matches is the value, or else all of the scalar.
   */
  readonly shorthand?: string;
  /** The scalar `no` in place of its map stands for false here. */
  readonly switch?: true;
  /** What the value is, for readers who need more than its type; `header_map`: header names with values. */
  readonly kind?: string;
  /**
   * The mistakes that `mutate` makes in it, if not all. A member of which only the absence is tried names something, or
   * no case of a scenario can tell its values apart.
   */
  readonly mutants?: 'absence' | 'none';
  /** Alternatives of different types: the type of a value selects the one that it must match. */
  readonly anyOf?: readonly Shape[];
}

/** A required key that a map lacks. */
export interface MissingKey<S extends Shape = Shape> {
  readonly key: string;
  readonly shape: S;
  /** Whether the key is there without a value. */
  readonly isNull: boolean;
  /** A key beside it that contains this one: it is indented too deep. */
  readonly within?: string | undefined;
}

/** How a value departs from its shape. */
export type Departure<S extends Shape = Shape> =
  | {
      readonly kind: 'unknown_key';
      readonly key: string;
      readonly known: readonly string[];
      /** A key beside it that has no value and takes this one: the indentation is missing. */
      readonly owner?: string | undefined;
    }
  | {
      readonly kind: 'missing_keys';
      readonly missing: readonly MissingKey<S>[];
      /** Unknown keys beside them. */
      readonly unknown: readonly string[];
    }
  | {
      readonly kind: 'wrong_type';
      readonly shape: S;
      readonly received: unknown;
      /** The key is one of the entries of a map, not their name; `entry` is the last entry above it, null for none. */
      readonly meantFor?: { readonly entry: string | null } | undefined;
    }
  | {
      readonly kind: 'unknown_value';
      readonly shape: S;
      readonly allowed: readonly string[];
      readonly received: string;
    }
  | { readonly kind: 'out_of_range'; readonly shape: S; readonly received: number }
  | {
      readonly kind: 'too_long';
      readonly shape: S;
      readonly unit: 'bytes' | 'characters' | 'entries';
      readonly size: number;
      readonly limit: number;
    }
  | { readonly kind: 'empty'; readonly shape: S; readonly of: 'list' | 'text' }
  | { readonly kind: 'duplicate'; readonly shape: S; readonly received: unknown }
  | { readonly kind: 'bad_form'; readonly shape: S; readonly form: string; readonly received: string }
  | { readonly kind: 'bad_name'; readonly shape: Shape; readonly form: string; readonly key: string };

/** Reports a departure with the pointer of the value; for keys, the pointer of their map. */
export type Depart<S extends Shape = Shape> = (pointer: string, departure: Departure<S>) => void;

/** What a kind of document adds to the validator. It reports its own findings. */
export interface Extension<S extends Shape> {
  /** Whether `key:` without a value equals a missing key. */
  readonly isNullAbsent: boolean;
  /** Reads a value with special keywords as a whole; undefined for an ordinary shape. */
  readonly reader: (shape: S) => ((value: unknown, pointer: string) => unknown) | undefined;
  /**
   * The fields that keys with other names map to, null for a key to ignore; undefined if every key has the name of its
   * field.
   */
  readonly fieldNames: (
    shape: S,
    value: Readonly<Record<string, unknown>>,
    pointer: string,
  ) => ReadonlyMap<string, string | null> | undefined;
  /** Whether the value of a string is only known later, so that its length and form are not checked. */
  readonly isDeferred: (shape: S, text: string, pointer: string) => boolean;
  /** Checks and normalises a valid string; undefined if it is not valid after all. */
  readonly text: (shape: S, text: string, pointer: string) => string | undefined;
}

/**
 * Validated records and their results, by identity; only for values that never change. With this cache
 * unchanged parts of the next value are validated once and give the same result object.
 */
export type ShapeCache = WeakMap<object, { readonly shape: Shape; readonly result: object }>;
