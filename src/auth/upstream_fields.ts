import type { RequestHead } from '../engine/contract.ts';
import type { FieldList } from '../http/fields.ts';
import { cookieName, withoutCookies } from './cookies.ts';
import type { LoginGate, LoginPass } from './gate.ts';

/**
 * Replaces the client's `Cookie` fields for the upstream: identity headers and other cookies, without the
 * session cookies.
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
