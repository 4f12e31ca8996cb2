import { asciiLower, withoutEnds } from './ascii.ts';
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
  const isOwn = (name: string): boolean => names.size > 0 && names.has(plainName(name));
  const edited = (fields: FieldList, edit: (pairs: readonly string[]) => readonly string[]): FieldList => {
    if (names.size === 0 || !hasField(fields, 'cookie')) return fields;
    return mapField(fields, 'cookie', (value) => {
      const pairs = value.split(';');
      if (!pairs.some((pair) => isOwn(nameOf(pair)))) return value;
      const kept = edit(pairs);
      return kept.length === 0 ? null : kept.join(';').trim();
    });
  };
  return {
    claim: (name) => void names.add(plainName(name)),
    isOwn,
    withheld: (fields) => edited(fields, (pairs) => pairs.filter((pair) => !isOwn(nameOf(pair)))),
    hidden: (fields) =>
      edited(fields, (pairs) =>
        pairs.map((pair) =>
          isOwn(nameOf(pair)) ? `${pair.slice(0, pair.indexOf('=') + 1)}${HIDDEN}` : pair,
        ),
      ),
    unset: (fields) => {
      if (names.size === 0 || !hasField(fields, 'set-cookie')) return fields;
      return mapField(fields, 'set-cookie', (value) => (setsOwn(value, isOwn) ? null : value));
    },
  };
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
