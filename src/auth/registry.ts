import { type OwnCookies, ownCookies } from '../http/own_cookies.ts';
import { type Revocations, endKey, revocations, userIdOf } from './revocations.ts';
import { type UsedAssertions, usedAssertions } from './saml/replay.ts';
import type { Session } from './session.ts';

/** Maximum number of used ids of a kind; each is remembered until it expires. */
const USED_LIMIT = 50_000;

/** Used ids with their expiry, in order of use. */
export type OneTimeIds = Map<string, number>;

/**
 * Used ids of login states, and of logout tokens and logout messages. Anyone can start logins and use up their states,
 * so these are kept apart: they must not displace the ids of logouts.
 */
type UsedIds = Readonly<Record<'state' | 'message', OneTimeIds>>;

/** Marks an id as used until `untilMs`; false if it was used before. */
export function useOnce(used: OneTimeIds, id: string, untilMs: number, nowMs: number): boolean {
  if ((used.get(id) ?? nowMs) > nowMs) return false;
  used.delete(id);
  for (const [old, until] of used) {
    if (until > nowMs && used.size < USED_LIMIT) break;
    used.delete(old);
  }
  used.set(id, untilMs);
  return true;
}

/** A user who has logged in at a gate. */
export interface SeenUser {
  /** Equal for the same user of a provider on every node. */
  readonly id: string;
  readonly provider: string;
  readonly providerUserId: string;
  readonly name: string;
  readonly email: string;
  readonly createdMs: number;
  lastActiveMs: number;
  lastLoginMs: number;
}

/** A session created or used at this node. */
export interface SeenSession {
  readonly id: string;
  readonly userId: string;
  readonly publicUrl: string;
  readonly gate: string;
  readonly userAgent: string;
  readonly clientIp: string;
  readonly createdMs: number;
  lastActiveMs: number;
  /** Null if it does not expire. */
  readonly expiresMs: number | null;
}

/** Session details taken from a request. */
interface SessionDetails {
  readonly publicUrl: string;
  readonly gate: string;
  readonly userAgent: string;
  readonly clientIp: string;
  readonly expiresMs: number | null;
}

/**
 * Application users and sessions of all gates, in bounded memory: the management API lists and revokes them.
 * Sessions themselves are in cookies; revoking one means to remember its id.
 */
export interface LoginRegistry extends Pick<Revocations, 'isRevoked' | 'onEnd' | 'restore' | 'all'> {
  readonly users: () => readonly SeenUser[];
  readonly sessions: () => readonly SeenSession[];
  /** Ends one session; false if it is unknown here (it is refused from now on anyway). */
  readonly revokeSession: (id: string, nowMs: number) => boolean;
  /** Ends every session of a user that has started so far. */
  readonly revokeUser: (id: string, nowMs: number) => boolean;
  /**
   * Ends the sessions that belong to a session or user of the provider: back-channel logout, SAML single
   * logout.
   */
  readonly revokeAt: (provider: string, by: { session: string } | { user: string }, nowMs: number) => void;
  /** Forgets everything, including revocations; the simulator starts each case with an empty registry. */
  readonly clear: () => void;
  /** Used one-time ids; they survive a new configuration. */
  readonly used: UsedIds;
  readonly assertions: UsedAssertions;
  /** Cookie names of all gates; upstreams neither receive nor set these cookies. */
  readonly cookies: OwnCookies;
  readonly seen: (session: Session, nowMs: number, sighting: () => SessionDetails) => void;
}

export interface RegistryLimits {
  readonly users: number;
  readonly sessions: number;
  readonly revocations: number;
}

export const REVOCATIONS_LIMIT = 100_000;
const USUAL_LIMITS: RegistryLimits = { users: 20_000, sessions: 50_000, revocations: REVOCATIONS_LIMIT };

/** Creates an empty registry. */
export function loginRegistry(limits: RegistryLimits = USUAL_LIMITS): LoginRegistry {
  const users = new Map<string, SeenUser>();
  const sessions = new Map<string, SeenSession>();
  const ended = revocations(limits.revocations);
  const used: UsedIds = { state: new Map(), message: new Map() };
  const assertions = usedAssertions();
  const { revoke, isRevoked, onEnd, restore, all } = ended;
  return {
    isRevoked,
    onEnd,
    restore,
    all,
    used,
    assertions,
    cookies: ownCookies(),
    users: () => [...users.values()],
    sessions: () => [...sessions.values()],
    revokeSession: (id, nowMs) => {
      revoke(endKey.session(id), nowMs);
      return sessions.delete(id);
    },
    revokeUser: (id, nowMs) => {
      revoke(endKey.user(id), nowMs);
      for (const each of sessions.values()) if (each.userId === id) sessions.delete(each.id);
      return users.delete(id);
    },
    revokeAt: (provider, by, nowMs) => {
      if ('session' in by) revoke(endKey.atProvider(provider, by.session), nowMs);
      else revoke(endKey.user(userIdOf(provider, by.user)), nowMs);
    },
    clear: () => {
      // Clearing an empty map still allocates a new table.
      for (const kept of [users, sessions, used.state, used.message, assertions.untilById])
        if (kept.size > 0) kept.clear();
      if (ended.size() > 0) ended.clear();
    },
    seen: (session, nowMs, sighting) => {
      const known = sessions.get(session.id);
      if (known === undefined) {
        const row = rowOf(session, nowMs, sighting());
        newest(sessions, session.id, row, limits.sessions);
        newest(users, row.userId, userOf(session, row.userId, users.get(row.userId), nowMs), limits.users);
        return;
      }
      known.lastActiveMs = nowMs;
      const user = users.get(known.userId);
      if (user !== undefined) user.lastActiveMs = nowMs;
    },
  };
}

/** Moves a row to the end; the oldest rows are dropped beyond the limit. */
function newest<Row>(rows: Map<string, Row>, id: string, row: Row, most: number): void {
  rows.delete(id);
  rows.set(id, row);
  for (const old of rows.keys()) {
    if (rows.size <= most) break;
    rows.delete(old);
  }
}

function rowOf(session: Session, nowMs: number, sighting: SessionDetails): SeenSession {
  const userId = userIdOf(session.provider, session.user.id);
  const userAgent = beginning(sighting.userAgent);
  return { id: session.id, userId, ...sighting, userAgent, createdMs: session.startMs, lastActiveMs: nowMs };
}

/** A name may be as long as a session cookie, and a user agent as a head; they are truncated here to bound memory. */
const SHOWN_UNITS = 512;

/** What is shown of a text. It is copied, because a substring keeps the whole text in memory. */
function beginning(text: string): string {
  return Buffer.from(text.slice(0, SHOWN_UNITS)).toString();
}

function userOf(
  { provider, user, startMs }: Session,
  id: string,
  known: SeenUser | undefined,
  nowMs: number,
): SeenUser {
  return {
    id,
    provider,
    providerUserId: user.id,
    name: beginning(user.name),
    email: beginning(user.email),
    createdMs: known?.createdMs ?? startMs,
    lastActiveMs: nowMs,
    lastLoginMs: Math.max(startMs, known?.lastLoginMs ?? startMs),
  };
}
