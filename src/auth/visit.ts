import type { Connection, RequestHead, World } from '../engine/contract.ts';
import { firstValue } from '../http/fields.ts';
import { clearCookies, cookieName, type CookieScope, cookieValues, readChunked } from './cookies.ts';
import type { LoginGate } from './gate.ts';
import { type LoginMemory, refreshedOf } from './memory.ts';
import type { LoginContext } from './provider.ts';
import type { LoginRegistry } from './registry.ts';
import { expiryOf, openSession, type Session, sessionEnd, type SessionPlace } from './session.ts';

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
    userAgent: firstValue(request.headers, 'user-agent') ?? '',
    clientIp: connection.client.text,
    expiresMs: expiryOf(session, gate.times),
  }));
}

/** `Set-Cookie` values that delete the session cookie. */
export function endCookies({ place, scope, request }: Visit): string[] {
  return clearCookies(place.cookie, scope, request.headers);
}
