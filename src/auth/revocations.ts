import { digest } from '../crypto/digest.ts';
import type { Session } from './session.ts';

/** One revocation: of a session, of a user, or of a session at the provider. */
export interface LoginEnd {
  readonly key: string;
  /** Sessions that started at this time or before are invalid. */
  readonly ms: number;
}

/** Revoked sessions and users. */
export interface Revocations {
  readonly revoke: (key: string, nowMs: number) => void;
  readonly isRevoked: (session: Session) => boolean;
  /** Subscribes to future revocations, in order: for storing them, and for other nodes. */
  readonly onEnd: (hear: (end: LoginEnd) => void) => void;
  /** Adds revocations that were stored, or come from other nodes, oldest first, without notifying subscribers. */
  readonly restore: (ends: readonly LoginEnd[], allBeforeMs: number) => void;
  /** All that are remembered, oldest first. */
  readonly all: () => readonly LoginEnd[];
  /** Sessions that started at this time or before are invalid; negative infinity if none is for its age alone. */
  readonly allBeforeMs: () => number;
  readonly size: () => number;
  readonly clear: () => void;
}

const SESSION = 'session ';

/** Keys of revocations. */
export const endKey = {
  session: (id: string) => SESSION + id,
  user: (id: string) => `user ${id}`,
  atProvider: (provider: string, session: string) => `at ${provider} ${session}`,
} as const;

/** Remembers up to `limit` revocations. */
export function revocations(limit: number): Revocations {
  /** By key: sessions that started at this time or before are invalid. */
  const revoked = new Map<string, number>();
  // When a revocation is evicted, every session as old as it is refused, so that none becomes valid again.
  let allBeforeMs = Number.NEGATIVE_INFINITY;
  const hearers: ((end: LoginEnd) => void)[] = [];

  const put = (key: string, nowMs: number): void => {
    revoked.delete(key);
    revoked.set(key, nowMs);
    for (const [old, beforeMs] of revoked) {
      if (revoked.size <= limit) break;
      revoked.delete(old);
      allBeforeMs = Math.max(allBeforeMs, beforeMs);
    }
  };
  const covers = (key: string, startMs: number): boolean => {
    const beforeMs = revoked.get(key);
    return beforeMs !== undefined && startMs <= beforeMs;
  };
  return {
    revoke: (key, ms) => {
      const known = revoked.get(key);
      // A session ends once: a user who repeats a logout must not evict the revocations of others. Nor does a
      // clock that was set back shorten a revocation.
      if (known !== undefined && (known >= ms || key.startsWith(SESSION))) return;
      put(key, ms);
      for (const hear of hearers) hear({ key, ms });
    },
    onEnd: (hear) => void hearers.push(hear),
    restore: (ends, beforeMs) => {
      allBeforeMs = Math.max(allBeforeMs, beforeMs);
      for (const { key, ms } of ends) if ((revoked.get(key) ?? Number.NEGATIVE_INFINITY) < ms) put(key, ms);
    },
    isRevoked: ({ id, provider, user, providerSession, startMs }) => {
      if (startMs <= allBeforeMs) return true;
      if (revoked.size === 0) return false;
      return (
        revoked.has(endKey.session(id)) ||
        covers(endKey.user(userIdOf(provider, user.id)), startMs) ||
        (providerSession !== null && covers(endKey.atProvider(provider, providerSession), startMs))
      );
    },
    all: () => Array.from(revoked, ([key, ms]) => ({ key, ms })),
    allBeforeMs: () => allBeforeMs,
    size: () => revoked.size,
    clear: () => {
      revoked.clear();
      allBeforeMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The id of a provider's user, equal on every node. */
export function userIdOf(provider: string, userId: string): string {
  return digest('sha256', [JSON.stringify([provider, userId])], 'hex').slice(0, 32);
}
