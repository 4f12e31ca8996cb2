import { type FieldList, NO_FIELDS, firstValue } from './fields.ts';

/**
 * The names of a list of fields, as spelled and in order. Clients of one kind send the same ones, so that what is known of the
 * names of one request (where a field is, what is made of it) holds for the next.
 */
export interface FieldNames {
  /** A list with these names; its values mean nothing. */
  readonly like: FieldList;
  /** What `perNames` made of them, by the number of the function. */
  readonly made: unknown[];
}

/** The most recent names; more kinds of clients at a time are rare. */
const KEPT = 8;
/** Longer lists and names are not kept, as clients can send any. */
const LONGEST_LIST = 128;
const LONGEST_NAME = 256;

const recent: FieldNames[] = [];
let oldest = 0;
/** The last lists whose names were not known: they are worth keeping when they come again soon. */
const missed: FieldList[] = [];
let oldestMissed = 0;
const MISSED = 4;
/** A request is asked for its fields several times in a row. */
let last: FieldList | null = null;
let namesOfLast: FieldNames | null = null;

/** The names of a list; null if they are not among the recent ones. */
export function fieldNamesOf(fields: FieldList): FieldNames | null {
  if (fields === last) return namesOfLast;
  namesOfLast = found(fields);
  last = fields;
  return namesOfLast;
}

function found(fields: FieldList): FieldNames | null {
  for (let at = 0; at < recent.length; at++) {
    const names = recent[at]!;
    if (haveSameNames(names.like, fields)) return names;
  }
  if (fields.length > LONGEST_LIST) return null;
  const before = missed.findIndex((list) => haveSameNames(list, fields));
  if (before < 0) {
    missed[oldestMissed++ % MISSED] = fields;
    return null;
  }
  missed[before] = NO_FIELDS;
  if (fields.some((name, at) => at % 2 === 0 && name.length > LONGEST_NAME)) return null;
  const names = { like: fields.map((text, at) => (at % 2 === 0 ? text : '')), made: [] };
  recent[oldest++ % KEPT] = names;
  return names;
}

function haveSameNames(one: FieldList, other: FieldList): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 2) if (one[at] !== other[at]) return false;
  return true;
}

let functions = 0;

/** Computes something once for all lists with the same names. */
export function perNames<Made>(make: (names: FieldList) => Made): (names: FieldNames) => Made {
  const number = functions++;
  return ({ like, made }) => {
    const before = made[number] as Made | undefined;
    if (before !== undefined) return before;
    while (made.length <= number) made.push(undefined);
    const now = make(like);
    made[number] = now;
    return now;
  };
}

/** `firstValue` of one field, without a search in lists with recent names. */
export function firstValueOf(lower: string): (fields: FieldList) => string | undefined {
  const placeOf = perNames((names) =>
    names.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === lower),
  );
  return (fields) => {
    const names = fieldNamesOf(fields);
    if (names === null) return firstValue(fields, lower);
    const place = placeOf(names);
    return place < 0 ? undefined : fields[place + 1];
  };
}
