import { digest } from '../../crypto/digest.ts';
import type { UsedIds } from './once.ts';
import { type UsedAssertions, usedAssertions } from './saml/replay.ts';
import type { Session } from './session.ts';

/** A user who has logged in at a gate. */
export interface SeenUser {
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
export interface SeenSession {
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
export interface SessionSighting {
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
export interface LoginRegistry {
  readonly users: () => readonly SeenUser[];
  readonly sessions: () => readonly SeenSession[];
  /** Ends one session; false when it is not known here (it is refused all the same). */
  readonly revokeSession: (id: string, nowMs: number) => boolean;
  /** Ends every session of a user that has begun until now. */
  readonly revokeUser: (id: string, nowMs: number) => boolean;
  /** Ends the sessions of a provider's own session, or of its user: back-channel and single logout. */
  readonly revokeAt: (provider: string, by: { session: string } | { user: string }, nowMs: number) => void;
  readonly isRevoked: (session: Session) => boolean;
  /** Forgets everything, revocations too: a simulation begins anew with each case. */
  readonly clear: () => void;
  /** What has been used and counts once; a new configuration forgets none of it. */
  readonly used: UsedIds;
  readonly assertions: UsedAssertions;
  readonly seen: (session: Session, nowMs: number, sighting: () => SessionSighting) => void;
}

export interface RegistryLimits {
  readonly users: number;
  readonly sessions: number;
  readonly revocations: number;
}

const USUAL_LIMITS: RegistryLimits = { users: 20_000, sessions: 50_000, revocations: 100_000 };

/** An empty registry. */
export function loginRegistry(limits: RegistryLimits = USUAL_LIMITS): LoginRegistry {
  const users = new Map<string, SeenUser>();
  const sessions = new Map<string, SeenSession>();
  /** By what is revoked: sessions that began at this time or before count no more. */
  const revoked = new Map<string, number>();
  const used: UsedIds = new Map();
  const assertions = usedAssertions();
  // What is forgotten for want of room must not count again: everything as old as it is refused then.
  let allBeforeMs = Number.NEGATIVE_INFINITY;

  const revoke = (key: string, nowMs: number): void => {
    revoked.delete(key);
    revoked.set(key, nowMs);
    for (const [old, beforeMs] of revoked) {
      if (revoked.size <= limits.revocations) break;
      revoked.delete(old);
      allBeforeMs = Math.max(allBeforeMs, beforeMs);
    }
  };
  const covers = (key: string, startMs: number): boolean => {
    const beforeMs = revoked.get(key);
    return beforeMs !== undefined && startMs <= beforeMs;
  };
  return {
    used,
    assertions,
    users: () => [...users.values()],
    sessions: () => [...sessions.values()],
    revokeSession: (id, nowMs) => {
      revoke(`session ${id}`, nowMs);
      return sessions.delete(id);
    },
    revokeUser: (id, nowMs) => {
      revoke(`user ${id}`, nowMs);
      for (const each of sessions.values()) if (each.userId === id) sessions.delete(each.id);
      return users.delete(id);
    },
    revokeAt: (provider, by, nowMs) => {
      if ('session' in by) revoke(`at ${provider} ${by.session}`, nowMs);
      else revoke(`user ${userIdOf(provider, by.user)}`, nowMs);
    },
    isRevoked: ({ id, provider, user, providerSession, startMs }) => {
      if (startMs <= allBeforeMs) return true;
      if (revoked.size === 0) return false;
      return (
        revoked.has(`session ${id}`) ||
        covers(`user ${userIdOf(provider, user.id)}`, startMs) ||
        (providerSession !== null && covers(`at ${provider} ${providerSession}`, startMs))
      );
    },
    clear: () => {
      // Clearing an empty map makes a new table all the same.
      if (users.size + sessions.size + revoked.size + used.size + assertions.untilById.size === 0) return;
      for (const kept of [users, sessions, revoked, used, assertions.untilById]) kept.clear();
      allBeforeMs = Number.NEGATIVE_INFINITY;
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
    name: user.name,
    email: user.email,
    createdMs: known?.createdMs ?? startMs,
    lastActiveMs: nowMs,
    lastLoginMs: Math.max(startMs, known?.lastLoginMs ?? startMs),
  };
}

/** The same id for one user of one provider, wherever it is made. */
export function userIdOf(provider: string, userId: string): string {
  return digest('sha256', [JSON.stringify([provider, userId])], 'hex').slice(0, 32);
}
