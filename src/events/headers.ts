import { weakMemoizeRecurring } from '../caches/weak_memoize.ts';
import type { FieldList } from '../http/fields.ts';
import { mayHoldSecret, withoutSecret } from '../http/secrets.ts';
import type { NormalisedHeaders } from './fields.ts';

/** Entries kept of each kind: names and values repeat from request to request, but a client may send any. */
const KEPT_TEXTS = 4_096;
const KEPT_UNITS = 256;

/** Remembers what a text becomes, for a bounded number of short texts; starts afresh when it is full. */
function remembering<Made>(make: (text: string) => Made): (text: string) => Made {
  const known = new Map<string, Made>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (text.length <= KEPT_UNITS) {
      if (known.size >= KEPT_TEXTS) known.clear();
      known.set(text, made);
    }
    return made;
  };
}

/** `x-FORWARDED-for` → `X-Forwarded-For`. */
const capitalised = remembering((name) =>
  name
    .toLowerCase()
    .replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase()),
);

/** A value in lower case, as the list that it is alone in; shared, never written to. */
const alone = remembering((value): readonly string[] => Object.freeze([value.toLowerCase()]));

type Values = (value: string) => readonly string[];

const HIDDEN = new Map<string, Values>();

/**
 * Makes the values of a field: those that may hold a secret are told without it, for whoever reads events is not to
 * become one of the users.
 */
function valuesOf(name: string): Values {
  const lower = name.toLowerCase();
  if (!mayHoldSecret(lower)) return alone;
  let hidden = HIDDEN.get(lower);
  if (hidden === undefined) {
    hidden = (value) => [withoutSecret(lower, value).toLowerCase()];
    if (HIDDEN.size < KEPT_SHAPES) HIDDEN.set(lower, hidden);
  }
  return hidden;
}

/** The names of a head in order, capitalised, and an empty object that has them all as its members. */
interface Shape {
  readonly names: readonly string[];
  readonly keys: readonly string[];
  readonly values: readonly Values[];
  readonly empty: Readonly<Record<string, readonly string[]>>;
}

const KEPT_SHAPES = 8;
const NO_VALUES: readonly string[] = Object.freeze([]);

/**
 * The last shapes seen: clients of one kind send the same names in the same order, and filling an object whose
 * members are there takes half the time of making them one by one.
 */
const shapes: Shape[] = [];
let oldest = 0;

/** Header fields as events carry them: names capitalised, values lower case and in order. */
export const normaliseHeaders: (fields: FieldList) => NormalisedHeaders = weakMemoizeRecurring((fields) => {
  const shape = knownShape(fields);
  if (shape === undefined) return normaliseAnew(fields);
  const out: Record<string, readonly string[]> = { ...shape.empty };
  const { keys, values } = shape;
  for (let at = 0; at < keys.length; at++) out[keys[at]!] = values[at]!(fields[2 * at + 1]!);
  return out;
});

function knownShape(fields: FieldList): Shape | undefined {
  for (const shape of shapes) {
    const { names } = shape;
    if (names.length * 2 !== fields.length) continue;
    let at = 0;
    while (at < names.length && names[at] === fields[2 * at]) at++;
    if (at === names.length) return shape;
  }
  return undefined;
}

function normaliseAnew(fields: FieldList): NormalisedHeaders {
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
  // A name that occurs twice, or is one that every object has, is put together line by line.
  const keys = Object.keys(out);
  if (keys.length === names.length && keys.every((key) => !(key in Object.prototype))) remember(names, keys);
  return out;
}

function remember(names: readonly string[], keys: readonly string[]): void {
  if (names.some((name) => name.length > KEPT_UNITS)) return;
  const empty = Object.fromEntries(keys.map((key) => [key, NO_VALUES]));
  shapes[oldest++ % KEPT_SHAPES] = {
    names,
    keys: names.map(capitalised),
    values: names.map(valuesOf),
    empty,
  };
}

/** A field may be named like something that every object has. */
function put(out: Record<string, readonly string[]>, name: string, value: readonly string[]): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
