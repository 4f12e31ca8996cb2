import { type FieldList, isName } from '../http/fields.ts';
import { memberAt } from '../http/json_object.ts';
import type { Place } from './provider.ts';
import type { Reading } from './reading.ts';

/** A problem at a place. */
export type PlaceProblem = 'missing' | 'duplicated' | 'malformed';

/** The values at a place (several only in a list), or the problem. */
export type Found = { readonly values: readonly string[] } | { readonly problem: PlaceProblem };

const MISSING: Found = { problem: 'missing' };
const DUPLICATED: Found = { problem: 'duplicated' };
const MALFORMED: Found = { problem: 'malformed' };

/**
 * Finds the values at a place. A repeated header is a problem even if its values are equal: providers never
 * send that.
 */
export function findAt(place: Place, reading: Reading): Found {
  if ('json' in place) return findInJson(place.json, reading);
  if ('form' in place) return findInForm(place.form, reading);
  const value = onlyValue(reading.request.headers, place.lower);
  if (value === undefined) return MISSING;
  if (value === null) return DUPLICATED;
  if ('list' in place) return findInList(place.list, place.key + place.assign, value);
  if (value === '' || !value.startsWith(place.prefix)) return MALFORMED;
  return { values: [value.slice(place.prefix.length)] };
}

/** The value of a field; undefined if it is absent, null if it occurs more than once. */
function onlyValue(fields: FieldList, lower: string): string | null | undefined {
  let value: string | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    if (!isName(fields[at]!, lower)) continue;
    if (value !== undefined) return null;
    value = fields[at + 1]!;
  }
  return value;
}

/**
 * Members are extracted without splitting, because this runs for every request and most of a list is not
 * needed.
 */
function findInList(list: string, lead: string, value: string): Found {
  const found: string[] = [];
  for (let from = 0; from <= value.length;) {
    const at = value.indexOf(list, from);
    const end = at < 0 ? value.length : at;
    const start = from + blanksAt(value, from, end);
    if (value.startsWith(lead, start)) found.push(value.slice(start + lead.length, end).trimEnd());
    from = end + list.length;
  }
  return found.length === 0 ? MALFORMED : { values: found };
}

function blanksAt(value: string, from: number, end: number): number {
  let at = from;
  while (at < end && value.charCodeAt(at) === 0x20) at++;
  return at - from;
}

/** The single value at a place; a repeated member of a list is a problem. */
export function findOne(
  place: Place,
  reading: Reading,
): { readonly value: string } | { readonly problem: PlaceProblem } {
  const found = findAt(place, reading);
  if ('problem' in found) return found;
  return found.values.length === 1 ? { value: found.values[0]! } : { problem: 'duplicated' };
}

function findInJson(path: string, reading: Reading): Found {
  const object = reading.json();
  if (object === null) return MALFORMED;
  const value = memberAt(object, path);
  if (value === undefined) return MISSING;
  if (typeof value === 'string') return { values: [value] };
  return typeof value === 'number' ? { values: [String(value)] } : MALFORMED;
}

function findInForm(name: string, reading: Reading): Found {
  const pairs = reading.form();
  if (pairs === undefined) return MISSING;
  if (pairs === null) return MALFORMED;
  const values = pairs.filter(([key]) => key === name).map(([, value]) => value);
  if (values.length > 1) return DUPLICATED;
  return values.length === 0 ? MISSING : { values };
}

/** A place, for documentation and explanations. */
export function describePlace(place: Place): string {
  if ('json' in place) return `body member ${place.json}`;
  if ('form' in place) return `form parameter ${place.form}`;
  if ('list' in place) return `${place.header}: ${place.key}${place.assign}…`;
  return place.prefix === '' ? place.header : `${place.header}: ${place.prefix}…`;
}
