import type { Fact, RequestHead } from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import type { FieldList } from '../http/fields.ts';
import { cookieName, withoutCookies } from './cookies.ts';
import type { LoginKeys } from './keys.ts';
import type { IdentityProvider } from './provider.ts';
import type { LoginReason } from './reasons.ts';
import type { LoginRegistry } from './registry.ts';
import type { Session, SessionTimes } from './session.ts';

/** A configured login gate. */
export interface LoginGate {
  /** Id of the route or the action; sessions and states of other gates are invalid here. */
  readonly gate: string;
  /** Name of the service, for challenges. */
  readonly realm: string;
  readonly provider: IdentityProvider;
  readonly keys: LoginKeys;
  readonly registry: LoginRegistry;
  readonly times: SessionTimes;
  /** Reserved path prefix, answered by the gate and never forwarded; begins and ends with a slash. */
  readonly base: string;
  /** Path of the login, relative to the base: `authn`, `login`. */
  readonly loginPath: string;
  /** Names of the cookies without the `__Host-` prefix: `<cookie_prefix>session`, `<cookie_prefix>nonce`. */
  readonly sessionCookie: string;
  readonly nonceCookie: string;
  readonly cookieDomain: string | null;
  /** OPTIONS requests that pass without a login: all, CORS preflights (Fetch §3.2.2), or none. */
  readonly optionsPass: 'all' | 'preflight' | 'none';
  /** Prefix of the identity headers sent to the upstream. */
  readonly identityPrefix: string;
  /** Whether the upstream receives the tokens: only if the app is the user's own, not a managed one. */
  readonly givesTokens: boolean;
  /** Adds the module's type to a reason, for pages. */
  readonly code: (reason: LoginReason) => string;
}

export type LoginOutcome = LoginPass | LoginStop;

export interface LoginPass {
  readonly verdict: 'pass';
  readonly reason: LoginReason;
  readonly detail: Readonly<Record<string, Fact>>;
  readonly session: Session | null;
  /** For the upstream. */
  readonly identity: FieldList;
  /** `Set-Cookie` values for the response of the upstream or of a later filter. */
  readonly cookies: readonly string[];
}

export interface LoginStop {
  readonly verdict: 'stop';
  readonly reason: LoginReason;
  readonly detail: Readonly<Record<string, Fact>>;
  readonly session: Session | null;
  readonly response: LocalResponse;
}

/** User facts for the trace and the event. */
export function userDetail({ provider }: LoginGate, { user }: Session): Record<string, Fact> {
  return { provider: provider.id, client_id: provider.clientId, user_id: user.id, user_name: user.name };
}

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
