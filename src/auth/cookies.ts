import { type FieldList, isName } from '../http/fields.ts';

/** How a gate's cookies are set. */
export interface CookieScope {
  readonly secure: boolean;
  /** Null binds the cookie to the host alone. */
  readonly domain: string | null;
}

/** Browsers take 4,096 bytes of a cookie's name and value (RFC 6265bis §5.6). */
const COOKIE_UNITS = 4_096;
const CHUNK_UNITS = 3_700;
const CHUNKS_LIMIT = 5;
/** A chunk's number behind the name, and the count of chunks before the value. */
const NUMBERS_UNITS = 4;

/** How much of a value one cookie of this name can hold. */
function chunkUnits(name: string): number {
  return Math.min(CHUNK_UNITS, COOKIE_UNITS - NUMBERS_UNITS - name.length);
}

/** RFC 6265bis §4.1.3.2: the browser itself holds such a cookie to this host, `Secure` and all paths. */
export function cookieName(plain: string, { secure, domain }: CookieScope): string {
  return secure && domain === null ? `__Host-${plain}` : plain;
}

/** The values of a cookie in all `Cookie` fields; more than one means that somebody else has set one too. */
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

/** A long value put together from its chunks; null when there is none, or a chunk is missing or doubled. */
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

/** Whether a value is too long for all the cookies that a browser is asked to keep. */
export function isTooLong(name: string, value: string): boolean {
  return value.length > chunkUnits(name) * CHUNKS_LIMIT;
}

export interface CookieLife {
  /** Null ends with the browser. */
  readonly maxAgeSeconds: number | null;
  /** `none` where the answer comes as a form from another site. */
  readonly sameSite: 'lax' | 'none';
}

/** `Set-Cookie` values for a value of any length; chunks that an earlier, longer one has left are taken back. */
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

/** `Set-Cookie` values that take a cookie back, all its chunks included. */
export function clearCookies(name: string, scope: CookieScope, present: FieldList): string[] {
  const names = [name];
  for (let part = 1; part < CHUNKS_LIMIT; part++) names.push(`${name}.${part}`);
  return names.filter((each) => cookieValues(present, each).length > 0).map((each) => expired(each, scope));
}

/** One `Set-Cookie` value that takes a cookie back. */
export function expired(name: string, scope: CookieScope): string {
  return cookieLine(name, '', scope, { maxAgeSeconds: 0, sameSite: 'lax' });
}

function attributes({ secure, domain }: CookieScope, { maxAgeSeconds, sameSite }: CookieLife): string {
  const age = maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`;
  const at = domain === null ? '' : `; Domain=${domain}`;
  // `SameSite=None` is only taken together with `Secure`.
  const site = sameSite === 'none' && secure ? 'None' : 'Lax';
  return `; Path=/${at}${age}; HttpOnly${secure ? '; Secure' : ''}; SameSite=${site}`;
}

/** The client's `Cookie` field without the cookies of the gate, for the upstream; null when nothing is left. */
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

/** Whether a cookie is a chunk of the gate's own, or a login that waits (`state_cookie.ts`). */
function isChunkOf(name: string, own: string): boolean {
  return name.startsWith(`${own}.`) && /^(?:\d|[\w-]{22})$/.test(name.slice(own.length + 1));
}
