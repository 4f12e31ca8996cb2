import type { Connection, Fact, RequestHead, World } from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import type { FieldList } from '../http/fields.ts';
import {
  cookieName,
  clearCookies,
  cookieValues,
  readChunked,
  type CookieScope,
  withoutCookies,
} from './cookies.ts';
import { type Conversation, isConversation } from './conversation.ts';
import { identityFields } from './identity.ts';
import type { LoginKeys } from './keys.ts';
import { type LoginMemory, keepRefreshed, refreshedOf } from './memory.ts';
import type { IdentityProvider, LoginContext } from './provider.ts';
import {
  ASKED_AGAIN,
  failuresToAsk,
  isAskedByOthers,
  keepFailure,
  keepForOthers,
  refreshedByOthers,
} from './refreshed_sessions.ts';
import type { LoginReason } from './reasons.ts';
import type { LoginRegistry } from './registry.ts';
import { type Session, checkIsDue, expiryOf, openSession, sessionEnd, withLastSeen } from './session.ts';
import type { SessionPlace, SessionTimes } from './session.ts';
import { sessionCookies, tooLong } from './session_cookies.ts';

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

/** One request at its gate. */
export interface Visit extends LoginContext {
  readonly gate: LoginGate;
  readonly connection: Connection;
  readonly scope: CookieScope;
  /** Scope of the nonce cookie and of state cookies: this host only, even if sessions have a domain. */
  readonly nonceScope: CookieScope;
  readonly place: SessionPlace;
  readonly nonceCookie: string;
}

/** The session of a request, or why it has no valid one. */
export type SessionStatus =
  | { readonly session: Session; readonly why: null }
  | {
      readonly session: Session | null;
      readonly why: 'none' | 'unreadable' | 'inactive' | 'expired' | 'ahead' | 'revoked';
    };

/** Collects what the gate needs for one request. */
export function visitOf(
  gate: LoginGate,
  request: RequestHead,
  connection: Connection,
  memory: LoginMemory,
  world: World,
): Visit {
  const scope = { secure: request.scheme === 'https', domain: gate.cookieDomain };
  const nonceScope = { secure: scope.secure, domain: null };
  const { provider } = gate;
  const cookie = cookieName(gate.sessionCookie, scope);
  const host = gate.cookieDomain ?? request.host;
  const origin = `${request.scheme}://${originAuthority(request)}`;
  return {
    gate,
    request,
    connection,
    memory,
    registry: gate.registry,
    world,
    scope,
    nonceScope,
    // Gates of policies may share an id; the provider and its client id distinguish them.
    place: { cookie, host, gate: JSON.stringify([gate.gate, provider.id, provider.clientId]) },
    nonceCookie: cookieName(gate.nonceCookie, nonceScope),
    site: { origin, base: gate.base, callbackUrl: `${origin}${gate.base}${provider.callback}` },
  };
}

/** RFC 6454 §6.2: an origin omits the default port. */
function originAuthority({ scheme, authority, host }: RequestHead): string {
  const lower = authority.toLowerCase();
  return lower === `${host}:${scheme === 'https' ? 443 : 80}` ? host : lower;
}

/** The session in the request's cookie and its status now. */
export function sessionStatusOf({ gate, request, memory, place, world }: Visit): SessionStatus {
  const sealed = readChunked(request.headers, place.cookie);
  if (sealed === null) {
    const some = cookieValues(request.headers, place.cookie).length > 0;
    return { session: null, why: some ? 'unreadable' : 'none' };
  }
  const opened = openSession(gate.keys, sealed, place);
  if (opened === null || opened.provider !== gate.provider.id) return { session: null, why: 'unreadable' };
  const nowMs = world.nowMs();
  const session = memory.renewed.size === 0 ? opened : refreshedOf(memory, opened, nowMs);
  const end = sessionEnd(session, gate.times, nowMs);
  if (end !== null) return { session, why: end };
  if (gate.registry.isRevoked(session)) return { session, why: 'revoked' };
  return { session, why: null };
}

/** Passes a request with a valid session; first asks the provider if a check is due. */
export function admitted(
  visit: Visit,
  session: Session,
  refused: RefuseCheck,
): LoginOutcome | Conversation<LoginOutcome> {
  const nowMs = visit.world.nowMs();
  const { check, lists } = visit.gate.provider;
  if (check !== undefined && checkIsDue(session, visit.gate.times, lists, nowMs)) {
    const ask = () => checked(visit, session, check(session, visit), refused);
    // Changed lists are a reason to ask whatever others do.
    return visit.world.sharesState === true && session.lists === lists
      ? checkedOnce(visit, session, ask, refused)
      : ask();
  }
  const again = withLastSeen(session, visit.gate.times, nowMs);
  // A session that came in cookies fits into cookies again; if it does not, the old one stays and expires
  // earlier.
  return again === null
    ? passed(visit, session, [])
    : passed(visit, again, sessionCookies(visit, again) ?? []);
}

type RefuseCheck = (answer: object) => LoginOutcome | null;

function* checked(
  visit: Visit,
  session: Session,
  check: ReturnType<NonNullable<IdentityProvider['check']>>,
  refused: RefuseCheck,
): Conversation<LoginOutcome> {
  const answer = yield* check;
  const stop = refused(answer);
  if (stop !== null || 'refused' in answer) return stop!;
  const nowMs = visit.world.nowMs();
  const { user, tokens, providerSession } = answer;
  const { lists } = visit.gate.provider;
  const renewed = { ...session, user, tokens, providerSession, checkedMs: nowMs, seenMs: nowMs, lists };
  // The session may have been revoked while the provider was asked.
  if (visit.gate.registry.isRevoked(renewed))
    return refused({ refused: 'denied', message: 'the session was ended' })!;
  const cookies = sessionCookies(visit, renewed);
  if (cookies === null) return refused(tooLong(renewed))!;
  keepRefreshed(visit.memory, renewed, nowMs);
  yield* keepForOthers(visit, renewed);
  return passed(visit, renewed, cookies);
}

/**
 * Asks the provider unless another node has done so a moment ago, or does so now: two nodes that redeem a refresh token
 * both end the session at providers that issue a new one each time. A session passes meanwhile, but no longer once the
 * provider could not be asked: a failed check lets no request through.
 */
function* checkedOnce(
  visit: Visit,
  session: Session,
  ask: () => Conversation<LoginOutcome>,
  refused: RefuseCheck,
): Conversation<LoginOutcome> {
  const found = yield* refreshedByOthers(visit, session);
  if (found !== null) return passed(visit, found, sessionCookies(visit, found) ?? []);
  const failures = yield* failuresToAsk(session);
  if (yield* isAskedByOthers(visit, session, failures))
    return failures === 0 ? passed(visit, session, []) : refused(ASKED_AGAIN)!;
  const outcome = yield* ask();
  if (outcome.reason === 'provider_failed') yield* keepFailure(visit, session, failures + 1);
  return outcome;
}

function passed(visit: Visit, session: Session, cookies: readonly string[]): LoginPass {
  const { gate, registry, world } = visit;
  recordSession(visit, session, registry, world.nowMs());
  const identity = identityFields(
    gate.identityPrefix,
    session.user,
    gate.givesTokens ? session.tokens : null,
  );
  return {
    verdict: 'pass',
    reason: 'session',
    detail: userDetail(gate, session),
    session,
    identity,
    cookies,
  };
}

/** Records the session for the lists of the management API. */
export function recordSession(
  { gate, site, request, connection }: Pick<Visit, 'gate' | 'site' | 'request' | 'connection'>,
  session: Session,
  registry: LoginRegistry,
  nowMs: number,
): void {
  registry.seen(session, nowMs, () => ({
    publicUrl: site.origin,
    gate: gate.gate,
    userAgent: valueOf(request.headers, 'user-agent').slice(0, USER_AGENT_UNITS),
    clientIp: connection.client.text,
    expiresMs: expiryOf(session, gate.times),
  }));
}

const USER_AGENT_UNITS = 512;

function valueOf(headers: FieldList, lower: string): string {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]!.toLowerCase() === lower) return headers[at + 1]!;
  return '';
}

/** User facts for the trace and the event. */
export function userDetail({ provider }: LoginGate, { user }: Session): Record<string, Fact> {
  return { provider: provider.id, client_id: provider.clientId, user_id: user.id, user_name: user.name };
}

/** `Set-Cookie` values that delete the session cookie. */
export function endCookies({ place, scope, request }: Visit): string[] {
  return clearCookies(place.cookie, scope, request.headers);
}

/** Resolves a value that may be a conversation. */
export function* awaited<T extends object>(answer: T | Conversation<T>): Conversation<T> {
  return isConversation(answer) ? yield* answer : answer;
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
