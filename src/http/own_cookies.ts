import { asciiLower, withoutEnds } from './ascii.ts';
import { someCookiePair } from './cookie_pairs.ts';
import { type FieldList, hasField, isName } from './fields.ts';

/**
 * Cookies of login gates. They prove a user's identity to their gate only, but browsers send them to every
 * route of the host. So no upstream receives them, and no upstream may set them.
 */
export interface OwnCookies {
  /** Claims the cookie of this name, its chunks and the state of its pending logins for the edge. */
  readonly claim: (name: string) => void;
  readonly isOwn: (name: string) => boolean;
  /** The request fields without these cookies; the same list when there are none. */
  readonly withheld: (fields: FieldList) => FieldList;
  /** The request fields with the values of these cookies hidden, as rules see them. */
  readonly hidden: (fields: FieldList) => FieldList;
  /** The response fields without `Set-Cookie` of these names; the same list when there are none. */
  readonly unset: (fields: FieldList) => FieldList;
}

const HIDDEN = '***';

export function ownCookies(): OwnCookies {
  const names = new Set<string>();
  let shortest = Number.POSITIVE_INFINITY;
  // A plain name is no longer than the name as sent.
  const isOwn = (name: string): boolean => name.length >= shortest && names.has(plainName(name));
  const edited = (fields: FieldList, edit: (value: string, own: readonly OwnPair[]) => string | null) => {
    if (names.size === 0 || !hasField(fields, 'cookie')) return fields;
    return mapField(fields, 'cookie', (value) => {
      const own = ownPairs(value, isOwn);
      return own.length === 0 ? value : edit(value, own);
    });
  };
  return {
    claim: (name) => {
      const plain = plainName(name);
      names.add(plain);
      shortest = Math.min(shortest, plain.length);
    },
    isOwn,
    withheld: (fields) => edited(fields, withoutPairs),
    hidden: (fields) => edited(fields, withoutValues),
    unset: (fields) => {
      if (names.size === 0 || !hasField(fields, 'set-cookie')) return fields;
      return mapField(fields, 'set-cookie', (value) => (setsOwn(value, isOwn) ? null : value));
    },
  };
}

/** Where a pair of a `Cookie` field is. */
interface OwnPair {
  readonly from: number;
  readonly equals: number;
  readonly to: number;
}

function ownPairs(value: string, isOwn: (name: string) => boolean): OwnPair[] {
  const own: OwnPair[] = [];
  someCookiePair(value, (from, equals, to) => {
    if (isOwn(value.slice(from, equals))) own.push({ from, equals, to });
    return false;
  });
  return own;
}

/** A `Cookie` field without these pairs and their semicolons; null if none is left. */
function withoutPairs(value: string, own: readonly OwnPair[]): string | null {
  const kept: string[] = [];
  let at = 0;
  for (const { from, to } of own) {
    if (from > at) kept.push(value.slice(at, from - 1));
    at = to + 1;
  }
  if (at <= value.length) kept.push(value.slice(at));
  return kept.length === 0 ? null : kept.join(';').trim();
}

function withoutValues(value: string, own: readonly OwnPair[]): string {
  let out = '';
  let at = 0;
  for (const { equals, to } of own) {
    out += value.slice(at, equals + 1) + HIDDEN;
    at = to;
  }
  return (out + value.slice(at)).trim();
}

/**
 * RFC 6265bis §5.7: a browser cuts at the first `;` and at the first `=`; a cookie without a name is sent
 * back as its value alone.
 */
function setsOwn(value: string, isOwn: (name: string) => boolean): boolean {
  const semicolon = value.indexOf(';');
  const pair = (semicolon < 0 ? value : value.slice(0, semicolon)).trim();
  // A nameless `=a=b` is sent back as `a=b`, which servers read as a cookie named `a`.
  const named = pair.replace(/^[=\s]+/, '');
  return isOwn(nameOf(named)) || isOwn(named);
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0 ? '' : pair.slice(0, equals);
}

/** Chunks of a long cookie, and pending logins (`auth/state_cookie`). */
const PART = /\.(?:[0-9]|[\w-]{22})$/;
const SPACES_AND_QUOTES = ' \t\v\f\u00a0"';
const PREFIX = /^__(?:host|secure)-/;

/**
 * A name as the most lenient parser reads it: without prefix, part, quotes and spaces, in one letter case,
 * and with one character for all that some languages do not allow in variable names (PHP reads `a.b` and `a
 * b` as `a_b`).
 */
function plainName(name: string): string {
  return asciiLower(withoutEnds(name, SPACES_AND_QUOTES))
    .replace(PREFIX, '')
    .replace(PART, '')
    .replaceAll(/[. []/g, '_');
}

/** Maps each value of field `lower`; null removes it. Returns the same list when nothing changes. */
function mapField(fields: FieldList, lower: string, map: (value: string) => string | null): FieldList {
  let out: string[] | null = null;
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    const value = fields[at + 1]!;
    const mapped = isName(name, lower) ? map(value) : value;
    if (mapped !== value) out ??= fields.slice(0, at);
    if (out !== null && mapped !== null) out.push(name, mapped);
  }
  return out ?? fields;
}
