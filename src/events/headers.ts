import { memoizeRecurring } from '../caches/recurring.ts';
import { fieldNamesOf, perNames } from '../http/field_names.ts';
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
  readonly key: string;
  /** The name in lower case if values may have secrets, which readers of events must not get. */
  readonly secret: string | null;
  value: string | null;
  /** Of a value that consists of cookies: what precedes the value of each. */
  cookies: readonly string[] | null;
  /** Whether its list is in events already, and frozen. */
  isShared: boolean;
}

function placeOf(name: string): Place {
  const lower = name.toLowerCase();
  const secret = mayHoldSecret(lower) ? lower : null;
  return { key: capitalised(name), secret, value: null, cookies: null, isShared: false };
}

function shown({ secret }: Place, value: string): [string] {
  if (secret === null) return [value.toLowerCase()];
  // Most cookies are in lower case already, and what is made of them is of many parts.
  if (secret === 'cookie') return [withoutSecret(secret, value.toLowerCase())];
  return [withoutSecret(secret, value).toLowerCase()];
}

/** The fields of messages with the same names, and the members of the last one, of which others are copies. */
interface Shape {
  readonly places: readonly Place[];
  readonly last: Record<string, Values>;
}

const NO_VALUES: Values = Object.freeze([]);

/** Null for repeated names and names of built-in properties, which are handled one by one. */
const shapeOf = perNames((names): Shape | null => {
  const places = names.flatMap((name, at) => (at % 2 === 0 ? [placeOf(name)] : []));
  const keys = new Set(places.map(({ key }) => key));
  if (keys.size < places.length || places.some(({ key }) => key in Object.prototype)) return null;
  return { places, last: Object.fromEntries(places.map(({ key }) => [key, NO_VALUES])) };
});

/**
 * Header fields in events: capitalised names, lower-case values in order. Most values are those of the message before with
 * these names, and copying an object takes a third of the time of filling it member by member.
 */
export const normaliseHeaders: (fields: FieldList) => NormalisedHeaders = memoizeRecurring((fields) => {
  const names = fieldNamesOf(fields);
  const shape = names === null ? null : shapeOf(names);
  if (shape === null) return computeHeaders(fields);
  const { places, last } = shape;
  let long = 0;
  for (let at = 0; at < places.length; at++) {
    const place = places[at]!;
    const value = fields[2 * at + 1]!;
    if (value === place.value || (place.cookies !== null && hasCookies(value, place.cookies))) {
      if (place.isShared) continue;
      place.isShared = true;
      Object.freeze(last[place.key]);
    } else if (value.length <= KEPT_UNITS) {
      place.value = value;
      place.cookies = place.secret === 'cookie' ? cookiesOf(value) : null;
      place.isShared = false;
      last[place.key] = shown(place, value);
    } else long++;
  }
  const out = { ...last };
  if (long > 0) putLong(out, places, fields);
  return out;
});

/** What precedes the value of each cookie of a `Cookie` field; null if there is one without a name. */
function cookiesOf(value: string): readonly string[] | null {
  const named = value.split(';').map((pair) => pair.slice(0, pair.indexOf('=') + 1));
  return named.includes('') ? null : named;
}

/** Whether a `Cookie` field has these cookies, whatever their values are: without the values it is the same. */
function hasCookies(value: string, cookies: readonly string[]): boolean {
  let from = 0;
  for (let at = 0; at < cookies.length; at++) {
    const before = cookies[at]!;
    if (!value.startsWith(before, from)) return false;
    const end = semicolonFrom(from + before.length, value);
    if (end < 0) return at === cookies.length - 1;
    from = end + 1;
  }
  return false;
}

/** Most cookie values are shorter than this, and a native search takes longer to start than they take to read. */
const NEAR = 24;

/** Where the next semicolon is; -1 if there is none. */
function semicolonFrom(from: number, value: string): number {
  const end = Math.min(value.length, from + NEAR);
  for (let at = from; at < end; at++) if (value.charCodeAt(at) === SEMICOLON) return at;
  return end < value.length ? value.indexOf(';', end) : -1;
}

const SEMICOLON = 0x3b;

/** Sets the members whose values are too long to be kept for the next message. */
function putLong(out: Record<string, Values>, places: readonly Place[], fields: FieldList): void {
  for (let at = 0; at < places.length; at++) {
    const value = fields[2 * at + 1]!;
    if (value.length > KEPT_UNITS && value !== places[at]!.value)
      out[places[at]!.key] = shown(places[at]!, value);
  }
}

function computeHeaders(fields: FieldList): NormalisedHeaders {
  const out: Record<string, string[]> = {};
  for (let at = 0; at < fields.length; at += 2) {
    const place = placeOf(fields[at]!);
    const [value] = shown(place, fields[at + 1]!);
    const before = out[place.key];
    if (before === undefined) out[place.key] = [value];
    // Thousands of fields may have one name, so that its list is not copied for each.
    else if (Object.hasOwn(out, place.key)) before.push(value);
    else put(out, place.key, [value]);
  }
  return out;
}

/** Handles field names that are also built-in properties of objects. */
function put(out: Record<string, string[]>, name: string, value: string[]): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
