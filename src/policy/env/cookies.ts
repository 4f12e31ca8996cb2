import { secondsFromCivil } from '../../datetime/dates.ts';
import { someCookiePair } from '../../http/cookie_pairs.ts';
import { type FieldList, allValues, isFieldName, isName } from '../../http/fields.ts';
import {
  BOOL,
  DURATION,
  STRING,
  TIMESTAMP,
  fieldsOf,
  map,
  stringWithFields,
  type Type,
} from '../../cel/types.ts';
import { Duration, type StringMap, Timestamp, type Value, stringMap } from '../../cel/values.ts';

/** A cookie in a request. */
export class Cookie {
  readonly name: string;
  readonly value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
  }
}

/** A cookie set by a response (RFC 6265 §5.2). */
export class SetCookie extends Cookie {
  domain = '';
  path = '';
  expires: Timestamp | undefined;
  max_age: Duration | undefined;
  http_only = false;
  secure = false;
  same_site = '';
  readonly unparsed_attributes = stringMap() as Record<string, string>;
}

/** Cookies of a request by name, in field order. */
export function requestCookies(fields: FieldList): StringMap {
  const cookies = stringMap() as Record<string, Cookie[]>;
  eachRequestCookie(fields, (cookie) => {
    (cookies[cookie.name] ??= []).push(cookie);
    return true;
  });
  return cookies;
}

/** The first cookie with a name; later cookies are not parsed. */
export function requestCookie(fields: FieldList, name: string): Cookie | undefined {
  let found: Cookie | undefined;
  eachRequestCookie(fields, (cookie) => {
    if (cookie.name !== name) return true;
    found = cookie;
    return false;
  });
  return found;
}

function eachRequestCookie(fields: FieldList, visit: (cookie: Cookie) => boolean): void {
  for (let field = 0; field < fields.length; field += 2) {
    if (!isName(fields[field]!, 'cookie')) continue;
    const text = fields[field + 1]!;
    const isEnough = someCookiePair(text, (from, _equals, to) => {
      const cookie = readPair(text.slice(from, to));
      return cookie !== null && !visit(cookie);
    });
    if (isEnough) return;
  }
}

/** Cookies set by a response by name, the longest path first. */
export function responseCookies(fields: FieldList): StringMap {
  const cookies = stringMap() as Record<string, SetCookie[]>;
  for (const field of allValues(fields, 'set-cookie')) {
    const cookie = readSetCookie(field);
    if (cookie !== null) (cookies[cookie.name] ??= []).push(cookie);
  }
  for (const name of Object.keys(cookies)) {
    cookies[name]!.sort((one, other) => other.path.length - one.path.length);
  }
  return cookies;
}

/** `name=value`; null if the name is not a token. Quotes around a value are removed. */
function readPair(piece: string): Cookie | null {
  const equals = piece.indexOf('=');
  if (equals < 0) return null;
  const name = piece.slice(0, equals).trim();
  if (!isFieldName(name)) return null;
  const value = piece.slice(equals + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return new Cookie(name, isQuoted ? value.slice(1, -1) : value);
}

type SetAttribute = (cookie: SetCookie, value: string) => boolean;

const ATTRIBUTES: Readonly<Record<string, SetAttribute>> = {
  domain: (cookie, value) => {
    cookie.domain = value.replace(/^\./, '').toLowerCase();
    return true;
  },
  path: (cookie, value) => {
    cookie.path = value.startsWith('/') ? value : '';
    return true;
  },
  expires: (cookie, value) => {
    cookie.expires = parseCookieDate(value) ?? cookie.expires;
    return parseCookieDate(value) !== null;
  },
  'max-age': (cookie, value) => {
    if (!/^-?\d{1,10}$/.test(value)) return false;
    cookie.max_age = new Duration(Math.min(Number(value), 9_000_000_000), 0);
    return true;
  },
  httponly: (cookie) => (cookie.http_only = true),
  secure: (cookie) => (cookie.secure = true),
  samesite: (cookie, value) => {
    cookie.same_site = value;
    return true;
  },
};

function readSetCookie(field: string): SetCookie | null {
  const [first = '', ...attributes] = field.split(';');
  const pair = readPair(first);
  if (pair === null) return null;
  const cookie = new SetCookie(pair.name, pair.value);
  for (const attribute of attributes) {
    const equals = attribute.indexOf('=');
    const name = (equals < 0 ? attribute : attribute.slice(0, equals)).trim().toLowerCase();
    const value = equals < 0 ? '' : attribute.slice(equals + 1).trim();
    const set = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
    if (set?.(cookie, value) !== true && attribute.trim() !== '') {
      cookie.unparsed_attributes[attribute.slice(0, equals < 0 ? undefined : equals).trim()] = value;
    }
  }
  return cookie;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Parses a date in any format of RFC 6265 §5.1.1; null for others. */
export function parseCookieDate(text: string): Timestamp | null {
  if (text.length > 128) return null;
  let clock: number[] | undefined;
  let day: number | undefined;
  let month: number | undefined;
  let year: number | undefined;
  for (const token of text.split(/[\t\u0020-\u002f;-@[-`{-~]+/)) {
    const time = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(token);
    const digits = /^\d+/.exec(token)?.[0] ?? '';
    const named = MONTHS.indexOf(token.slice(0, 3).toLowerCase());
    if (clock === undefined && time !== null) clock = time.slice(1).map(Number);
    else if (day === undefined && (digits.length === 1 || digits.length === 2)) day = Number(digits);
    else if (month === undefined && named >= 0) month = named + 1;
    else if (year === undefined && (digits.length === 2 || digits.length === 4))
      year = fullYear(Number(digits));
  }
  if (clock === undefined || day === undefined || month === undefined || year === undefined) return null;
  const [hour = 0, minute = 0, second = 0] = clock;
  if (day < 1 || day > 31 || year < 1601 || hour > 23 || minute > 59 || second > 59) return null;
  return new Timestamp(secondsFromCivil(year, month, day, hour, minute, second), 0);
}

function fullYear(year: number): number {
  if (year > 99) return year;
  return year < 70 ? year + 2000 : year + 1900;
}

/** An attribute of cookies in responses: a request sends none (RFC 6265 §5.4), so it has the value of one not set. */
function notSent<const T extends Type>(type: T, value: Value | undefined) {
  const doc = 'As in cookies of responses; requests never say it.';
  return { type, doc, optional: value === undefined, read: () => value };
}

const cookieField = fieldsOf<Cookie>();

export const COOKIE = stringWithFields(
  'Cookie',
  {
    name: cookieField.present(STRING, 'Name.', (cookie) => cookie.name),
    value: cookieField.present(STRING, 'Value.', (cookie) => cookie.value),
    domain: notSent(STRING, ''),
    path: notSent(STRING, ''),
    expires: notSent(TIMESTAMP, undefined),
    max_age: notSent(DURATION, undefined),
    http_only: notSent(BOOL, false),
    secure: notSent(BOOL, false),
    same_site: notSent(STRING, ''),
    unparsed_attributes: notSent(map(STRING, STRING), stringMap()),
  },
  (cookie: Cookie) => cookie.value,
);

const setCookieField = fieldsOf<SetCookie>();

export const SET_COOKIE = stringWithFields(
  'SetCookie',
  {
    name: setCookieField.present(STRING, 'Name.', (cookie) => cookie.name),
    value: setCookieField.present(STRING, 'Value.', (cookie) => cookie.value),
    domain: setCookieField.present(STRING, 'Attribute Domain; empty if not set.', (cookie) => cookie.domain),
    path: setCookieField.present(STRING, 'Attribute Path; empty if not set.', (cookie) => cookie.path),
    expires: setCookieField.optional(TIMESTAMP, 'Attribute Expires.', (cookie) => cookie.expires),
    max_age: setCookieField.optional(DURATION, 'Attribute Max-Age.', (cookie) => cookie.max_age),
    http_only: setCookieField.present(BOOL, 'Whether scripts cannot read it.', (cookie) => cookie.http_only),
    secure: setCookieField.present(BOOL, 'Whether it is sent over TLS only.', (cookie) => cookie.secure),
    same_site: setCookieField.present(
      STRING,
      'Attribute SameSite as written; empty if not set.',
      (cookie) => cookie.same_site,
    ),
    unparsed_attributes: setCookieField.present(
      map(STRING, STRING),
      'Other attributes, by name as written; empty values for those without one.',
      (cookie) => cookie.unparsed_attributes,
    ),
  },
  (cookie: SetCookie) => cookie.value,
);
