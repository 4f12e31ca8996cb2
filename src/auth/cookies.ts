import { type FieldList, isName } from '../http/fields.ts';

/** Attributes that all cookies of a gate share. */
export interface CookieScope {
  readonly secure: boolean;
  /** Null: a host-only cookie. */
  readonly domain: string | null;
}

/** Browsers accept 4,096 bytes for the name and value of a cookie (RFC 6265bis §5.6). */
const COOKIE_UNITS = 4_096;
const CHUNK_UNITS = 3_700;
const CHUNKS_LIMIT = 5;
/** Length of the chunk number after the name plus the chunk count before the value. */
const NUMBERS_UNITS = 4;

/** How many characters of a value fit into one cookie with this name. */
function chunkUnits(name: string): number {
  return Math.min(CHUNK_UNITS, COOKIE_UNITS - NUMBERS_UNITS - name.length);
}

/**
 * Adds a cookie prefix (RFC 6265bis §4.1.3): browsers restrict `__Host-` cookies to this host, `Secure` and
 * all paths.
 */
export function cookieName(plain: string, { secure, domain }: CookieScope): string {
  return secure && domain === null ? `__Host-${plain}` : plain;
}

/**
 * The values of a cookie in all `Cookie` fields; more than one if another host of the domain has set one,
 * too.
 */
export function cookieValues(headers: FieldList, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!isName(headers[at]!, 'cookie')) continue;
    const field = headers[at + 1]!;
    for (let from = field.indexOf(name); from >= 0; from = field.indexOf(name, from + 1)) {
      const equals = from + name.length;
      if (field.charCodeAt(equals) !== EQUALS || !beginsPair(field, from)) continue;
      const end = field.indexOf(';', equals);
      values.push(field.slice(equals + 1, end < 0 ? field.length : end).trim());
    }
  }
  return values;
}

const EQUALS = 61;

function beginsPair(field: string, from: number): boolean {
  let before = from - 1;
  while (before >= 0 && (field[before] === ' ' || field[before] === '\t')) before--;
  return before < 0 || field[before] === ';';
}

/** A long value joined from its chunks; null if there is no value, or a chunk is missing or duplicate. */
export function readChunked(headers: FieldList, name: string): string | null {
  const values = cookieValues(headers, name);
  const [first] = values;
  if (values.length !== 1 || first === undefined || first === '') return null;
  if (first[1] !== '~') return first;
  const count = Number(first[0]);
  if (!(count >= 2 && count <= CHUNKS_LIMIT)) return null;
  let whole = first.slice(2);
  for (let part = 1; part < count; part++) {
    const parts = cookieValues(headers, `${name}.${part}`);
    if (parts.length !== 1) return null;
    whole += parts[0]!;
  }
  return whole;
}

/** Whether a value exceeds the cookies that a browser can be expected to store. */
export function isTooLong(name: string, value: string): boolean {
  return value.length > chunkUnits(name) * CHUNKS_LIMIT;
}

export interface CookieLife {
  /** Null: a session cookie of the browser. */
  readonly maxAgeSeconds: number | null;
  /** `none` if the callback is a form posted by another site. */
  readonly sameSite: 'lax' | 'none';
}

/** `Set-Cookie` values for a value of any length; superfluous chunks of an earlier value are deleted. */
export function setCookies(
  name: string,
  value: string,
  scope: CookieScope,
  life: CookieLife,
  present: FieldList,
): string[] {
  const units = chunkUnits(name);
  const count = Math.max(1, Math.ceil(value.length / units));
  const cookies: string[] = [];
  for (let part = 0; part < count; part++) {
    const text = value.slice(part * units, (part + 1) * units);
    const chunk = part === 0 && count > 1 ? `${count}~${text}` : text;
    cookies.push(cookieLine(part === 0 ? name : `${name}.${part}`, chunk, scope, life));
  }
  for (let part = count; part < CHUNKS_LIMIT; part++) {
    const old = `${name}.${part}`;
    if (cookieValues(present, old).length > 0) cookies.push(expired(old, scope));
  }
  return cookies;
}

/** One `Set-Cookie` value. */
export function cookieLine(name: string, value: string, scope: CookieScope, life: CookieLife): string {
  return `${name}=${value}${attributes(scope, life)}`;
}

/** `Set-Cookie` values that delete a cookie with all its chunks. */
export function clearCookies(name: string, scope: CookieScope, present: FieldList): string[] {
  const names = [name];
  for (let part = 1; part < CHUNKS_LIMIT; part++) names.push(`${name}.${part}`);
  return names.filter((each) => cookieValues(present, each).length > 0).map((each) => expired(each, scope));
}

/** One `Set-Cookie` value that deletes a cookie. */
export function expired(name: string, scope: CookieScope): string {
  return cookieLine(name, '', scope, { maxAgeSeconds: 0, sameSite: 'lax' });
}

function attributes({ secure, domain }: CookieScope, { maxAgeSeconds, sameSite }: CookieLife): string {
  const age = maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`;
  const at = domain === null ? '' : `; Domain=${domain}`;
  // Browsers accept `SameSite=None` only with `Secure`.
  const site = sameSite === 'none' && secure ? 'None' : 'Lax';
  return `; Path=/${at}${age}; HttpOnly${secure ? '; Secure' : ''}; SameSite=${site}`;
}

/** The client's `Cookie` field for the upstream, without the cookies of the gate; null if it is empty then. */
export function withoutCookies(headers: FieldList, names: readonly string[]): string | null {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!isName(headers[at]!, 'cookie')) continue;
    for (const pair of headers[at + 1]!.split(';')) {
      const trimmed = pair.trim();
      const name = trimmed.slice(0, Math.max(0, trimmed.indexOf('=')));
      if (trimmed !== '' && !names.some((own) => name === own || isChunkOf(name, own))) kept.push(trimmed);
    }
  }
  return kept.length === 0 ? null : kept.join('; ');
}

/** Whether a cookie is a chunk of a cookie of the gate, or the state of a pending login (`state_cookie.ts`). */
function isChunkOf(name: string, own: string): boolean {
  return name.startsWith(`${own}.`) && /^(?:\d|[\w-]{22})$/.test(name.slice(own.length + 1));
}
