import { type OwnCookies, ownCookies } from '../http/own_cookies.ts';
import { type Revocations, endKey, revocations, userIdOf } from './revocations.ts';
import { type UsedAssertions, usedAssertions } from './saml/replay.ts';
import type { Session } from './session.ts';

/** Ids that count once are remembered until they are past: this many of them. */
const USED_LIMIT = 50_000;

/** Ids of states, logout tokens and logout messages that were used, and when they are past anyway. In order of use. */
export type OneTimeIds = Map<string, number>;

/** Marks a one-time id as used until `untilMs`; false when it has been used before. */
export function useOnce(used: OneTimeIds, id: string, untilMs: number, nowMs: number): boolean {
  if (used.has(id)) return false;
  for (const [old, until] of used) {
    if (until > nowMs && used.size < USED_LIMIT) break;
    used.delete(old);
  }
  used.set(id, untilMs);
  return true;
}

/** A user who has logged in at a gate. */
interface SeenUser {
  /** The same for one user of one provider on every node. */
  readonly id: string;
  readonly provider: string;
  readonly providerUserId: string;
  readonly name: string;
  readonly email: string;
  readonly createdMs: number;
  lastActiveMs: number;
  lastLoginMs: number;
}

/** A session that was made or used here. */
interface SeenSession {
  readonly id: string;
  readonly userId: string;
  readonly publicUrl: string;
  readonly gate: string;
  readonly userAgent: string;
  readonly clientIp: string;
  readonly createdMs: number;
  lastActiveMs: number;
  /** Null when it does not end by itself. */
  readonly expiresMs: number | null;
}

/** What a request tells of its session. */
interface SessionSighting {
  readonly publicUrl: string;
  readonly gate: string;
  readonly userAgent: string;
  readonly clientIp: string;
  readonly expiresMs: number | null;
}

/**
 * Application users and sessions of all gates, in memory and bounded: what the management API lists and revokes.
 * Sessions live in cookies; revoking one means to remember that it counts no more.
 */
export interface LoginRegistry extends Pick<Revocations, 'isRevoked' | 'onEnd' | 'restore'> {
  readonly users: () => readonly SeenUser[];
  readonly sessions: () => readonly SeenSession[];
  /** Ends one session; false when it is not known here (it is refused all the same). */
  readonly revokeSession: (id: string, nowMs: number) => boolean;
  /** Ends every session of a user that has begun until now. */
  readonly revokeUser: (id: string, nowMs: number) => boolean;
  /** Ends the sessions of a provider's own session, or of its user: back-channel and single logout. */
  readonly revokeAt: (provider: string, by: { session: string } | { user: string }, nowMs: number) => void;
  /** Forgets everything, revocations too: a simulation begins anew with each case. */
  readonly clear: () => void;
  /** What has been used and counts once; a new configuration forgets none of it. */
  readonly used: OneTimeIds;
  readonly assertions: UsedAssertions;
  /** Cookies of all gates: no upstream gets or sets them. */
  readonly cookies: OwnCookies;
  readonly seen: (session: Session, nowMs: number, sighting: () => SessionSighting) => void;
}

export interface RegistryLimits {
  readonly users: number;
  readonly sessions: number;
  readonly revocations: number;
}

export const REVOCATIONS_LIMIT = 100_000;
const USUAL_LIMITS: RegistryLimits = { users: 20_000, sessions: 50_000, revocations: REVOCATIONS_LIMIT };

/** An empty registry. */
export function loginRegistry(limits: RegistryLimits = USUAL_LIMITS): LoginRegistry {
  const users = new Map<string, SeenUser>();
  const sessions = new Map<string, SeenSession>();
  const ended = revocations(limits.revocations);
  const used: OneTimeIds = new Map();
  const assertions = usedAssertions();
  const { revoke, isRevoked, onEnd, restore } = ended;
  return {
    isRevoked,
    onEnd,
    restore,
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
      // Clearing an empty map makes a new table all the same.
      if (users.size + sessions.size + ended.size() + used.size + assertions.untilById.size === 0) return;
      for (const kept of [users, sessions, ended, used, assertions.untilById]) kept.clear();
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

/** Puts a row at the end; the first ones go when there are too many. */
function newest<Row>(rows: Map<string, Row>, id: string, row: Row, most: number): void {
  rows.set(id, row);
  for (const old of rows.keys()) {
    if (rows.size <= most) break;
    rows.delete(old);
  }
}

function rowOf(session: Session, nowMs: number, sighting: SessionSighting): SeenSession {
  const userId = userIdOf(session.provider, session.user.id);
  return { id: session.id, userId, ...sighting, createdMs: session.startMs, lastActiveMs: nowMs };
}

/** A name may fill a session cookie; in the list of users it is cut, for that is memory. */
const SHOWN_UNITS = 512;

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
    name: user.name.slice(0, SHOWN_UNITS),
    email: user.email.slice(0, SHOWN_UNITS),
    createdMs: known?.createdMs ?? startMs,
    lastActiveMs: nowMs,
    lastLoginMs: Math.max(startMs, known?.lastLoginMs ?? startMs),
  };
}
