import { allValues } from '../../http/fields.ts';
import { memberAt } from './json_object.ts';
import type { Place } from './provider.ts';
import type { Reading } from './reading.ts';

/** What is wrong at a place. */
export type PlaceProblem = 'missing' | 'duplicated' | 'malformed';

/** The values at a place (several only in a list), or what is wrong there. */
export type Found = { readonly values: readonly string[] } | { readonly problem: PlaceProblem };

const MISSING: Found = { problem: 'missing' };
const DUPLICATED: Found = { problem: 'duplicated' };
const MALFORMED: Found = { problem: 'malformed' };

/** Looks a place up. A header that occurs twice is a problem, even with equal values: nobody signs like that. */
export function findAt(place: Place, reading: Reading): Found {
  if ('json' in place) return findInJson(place.json, reading);
  if ('form' in place) return findInForm(place.form, reading);
  const values = allValues(reading.request.headers, place.header.toLowerCase());
  if (values.length === 0) return MISSING;
  if (values.length > 1) return DUPLICATED;
  const value = values[0]!;
  if ('list' in place) {
    const lead = place.key + place.assign;
    const members = value.split(place.list).map((member) => member.trim());
    const found = members
      .filter((member) => member.startsWith(lead))
      .map((member) => member.slice(lead.length));
    return found.length === 0 ? MALFORMED : { values: found };
  }
  const prefix = place.prefix ?? '';
  if (value === '' || !value.startsWith(prefix)) return MALFORMED;
  return { values: [value.slice(prefix.length)] };
}

/** The single value at a place: a second member of the same name in a list is a problem. */
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

/** A place as a reader of documentation or of an explanation wants it. */
export function describePlace(place: Place): string {
  if ('json' in place) return `body member ${place.json}`;
  if ('form' in place) return `form parameter ${place.form}`;
  if ('list' in place) return `${place.header}: ${place.key}${place.assign}…`;
  return place.prefix === undefined ? place.header : `${place.header}: ${place.prefix}…`;
}
