import type { RequestHead } from '../engine/contract.ts';
import type { FieldList } from '../http/fields.ts';
import { cookieName, withoutCookies } from './cookies.ts';
import type { LoginGate, LoginPass } from './gate.ts';

/**
 * What the upstream gets in place of the client's `Cookie` fields: who the user is, the other cookies, and never the
 * cookies that prove it.
 */
export function upstreamFields(
  { sessionCookie, nonceCookie, cookieDomain }: LoginGate,
  { identity }: LoginPass,
  { headers, scheme }: Pick<RequestHead, 'headers' | 'scheme'>,
): FieldList {
  const scope = { secure: scheme === 'https', domain: cookieDomain };
  const own = [cookieName(sessionCookie, scope), cookieName(nonceCookie, { ...scope, domain: null })];
  const cookie = withoutCookies(headers, own);
  return cookie === null ? identity : ['cookie', cookie, ...identity];
}
