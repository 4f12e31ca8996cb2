import { someCookiePair } from '../http/cookie_pairs.ts';
import { type FieldList, isName } from '../http/fields.ts';
import { type CookieScope, cookieLine, expired } from './cookies.ts';
import type { LoginKeys } from './keys.ts';
import { LOGIN_STATE_MS, type LoginState, startOfLoginState } from './login_state.ts';

/**
 * Pending logins whose state is too long for the callback parameter. Each is stored in a cookie of its own
 * (`<nonce cookie>.<handle>`), so that tabs do not interfere. It needs no server memory, and any node can
 * complete it.
 */

/** Maximum number of pending logins per browser; each adds a cookie to every request. */
const PENDING_LIMIT = 5;
const HANDLE = /^[\w-]{22}$/;

/** Name of the cookie with the state, from the callback parameter; null if that is not a valid handle. */
export function stateCookie(nonceCookie: string, handle: string | null): string | null {
  return handle !== null && HANDLE.test(handle) ? `${nonceCookie}.${handle}` : null;
}

/** `Set-Cookie` values that store a pending login; the oldest ones are deleted beyond the limit. */
export function stateCookies(
  { id }: LoginState,
  state: string,
  at: {
    readonly nonceCookie: string;
    readonly scope: CookieScope;
    readonly headers: FieldList;
    readonly keys: LoginKeys;
    readonly place: { readonly host: string; readonly gate: string };
  },
): string[] {
  const { nonceCookie, scope, headers, keys, place } = at;
  const life = { maxAgeSeconds: LOGIN_STATE_MS / 1_000, sameSite: 'none' } as const;
  const before = Array.from(stateCookiesIn(headers, nonceCookie), ([name, sealed]) => ({
    name,
    startMs: startOfLoginState(keys, sealed, place),
  }));
  before.sort((one, other) => other.startMs - one.startMs);
  const tooMany = before.slice(PENDING_LIMIT - 1).map(({ name }) => expired(name, scope));
  return [...tooMany, cookieLine(`${nonceCookie}.${id}`, state, scope, life)];
}

/** Limit on parsed cookies: more than a browser gets from us, so that a client with thousands costs little. */
const READ_LIMIT = 32;

/** The state cookies by name, read in one pass. */
function stateCookiesIn(headers: FieldList, nonceCookie: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    if (!isName(headers[at]!, 'cookie')) continue;
    const field = headers[at + 1]!;
    const isEnough = someCookiePair(field, (from, equals, to) => {
      const name = field.slice(from, equals).trim();
      if (!name.startsWith(`${nonceCookie}.`) || !HANDLE.test(name.slice(nonceCookie.length + 1)))
        return false;
      if (!found.has(name)) found.set(name, field.slice(equals + 1, to).trim());
      return found.size >= READ_LIMIT;
    });
    if (isEnough) return found;
  }
  return found;
}
