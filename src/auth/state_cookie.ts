import { type FieldList, isName } from '../http/fields.ts';
import { type CookieScope, cookieLine, expired } from './cookies.ts';
import type { LoginKeys } from './keys.ts';
import { LOGIN_STATE_MS, type LoginState, startOfLoginState } from './login_state.ts';

/**
 * Logins whose state is too long for what the provider sends back wait in cookies of their own, one each, so that
 * tabs do not disturb each other: `<nonce cookie>.<handle>`. No memory here is needed, and any node can finish them.
 */

/** Logins that one browser may have waiting: each costs it a cookie on every request. */
const WAITING_LIMIT = 5;
const HANDLE = /^[\w-]{22}$/;

/** Where the state of a login waits, by what the provider sends back; null when that is no handle. */
export function stateCookie(nonceCookie: string, handle: string | null): string | null {
  return handle !== null && HANDLE.test(handle) ? `${nonceCookie}.${handle}` : null;
}

/** `Set-Cookie` values that let a login wait; the oldest ones go when there are too many. */
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
  const before = Array.from(waitingIn(headers, nonceCookie), ([name, sealed]) => ({
    name,
    startMs: startOfLoginState(keys, sealed, place),
  }));
  before.sort((one, other) => other.startMs - one.startMs);
  const tooMany = before.slice(WAITING_LIMIT - 1).map(({ name }) => expired(name, scope));
  return [...tooMany, cookieLine(`${nonceCookie}.${id}`, state, scope, life)];
}

/** More than a browser has by our doing; a client that sends thousands is not read to the end. */
const READ_LIMIT = 32;

/** The cookies of logins that wait, by name; read in one pass. */
function waitingIn(headers: FieldList, nonceCookie: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) {
    if (!isName(headers[at]!, 'cookie')) continue;
    for (const pair of headers[at + 1]!.split(';')) {
      const equals = Math.max(0, pair.indexOf('='));
      const name = pair.slice(0, equals).trim();
      if (!name.startsWith(`${nonceCookie}.`) || !HANDLE.test(name.slice(nonceCookie.length + 1))) continue;
      if (!found.has(name)) found.set(name, pair.slice(equals + 1).trim());
      if (found.size >= READ_LIMIT) return found;
    }
  }
  return found;
}
