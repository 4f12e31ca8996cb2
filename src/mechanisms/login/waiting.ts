import { type FieldList, isName } from '../../http/fields.ts';
import { type CookieScope, cookieLine, cookieValues, expired } from './cookies.ts';
import type { LoginKeys } from './keys.ts';
import { PENDING_MS, type Pending, startOfPending } from './pending.ts';

/**
 * Logins whose state is too long for what the provider sends back wait in cookies of their own, one each, so that
 * tabs do not disturb each other: `<nonce cookie>.<handle>`. No memory here is needed, and any node can finish them.
 */

/** Logins that one browser may have waiting: each costs it a cookie on every request. */
const WAITING_LIMIT = 5;
const HANDLE = /^[\w-]{22}$/;

/** Where the state of a login waits, by what the provider sends back; null when that is no handle. */
export function waitingCookie(nonceCookie: string, handle: string | null): string | null {
  return handle !== null && HANDLE.test(handle) ? `${nonceCookie}.${handle}` : null;
}

/** `Set-Cookie` values that let a login wait; the oldest ones go when there are too many. */
export function waitingCookies(
  { id }: Pending,
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
  const life = { maxAgeSeconds: PENDING_MS / 1_000, sameSite: 'none' } as const;
  const before = waitingIn(headers, nonceCookie).map((name) => {
    const [sealed = ''] = cookieValues(headers, name);
    return { name, startMs: startOfPending(keys, sealed, place) };
  });
  before.sort((one, other) => other.startMs - one.startMs);
  const tooMany = before.slice(WAITING_LIMIT - 1).map(({ name }) => expired(name, scope));
  return [...tooMany, cookieLine(`${nonceCookie}.${id}`, state, scope, life)];
}

/** Names of the cookies of logins that wait. */
function waitingIn(headers: FieldList, nonceCookie: string): string[] {
  const names = new Set<string>();
  for (let at = 0; at < headers.length; at += 2) {
    if (!isName(headers[at]!, 'cookie')) continue;
    for (const pair of headers[at + 1]!.split(';')) {
      const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim();
      if (name.startsWith(`${nonceCookie}.`) && HANDLE.test(name.slice(nonceCookie.length + 1)))
        names.add(name);
    }
  }
  return [...names];
}
