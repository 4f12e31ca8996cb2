import { digest } from '../crypto/digest.ts';
import type { Session } from './session.ts';

/** One revocation: of a session, of a user, or of a session at the provider. */
export interface LoginEnd {
  readonly key: string;
  /** Sessions that began by then count no more. */
  readonly ms: number;
}

/** What was ended before its time. */
export interface Revocations {
  readonly revoke: (key: string, nowMs: number) => void;
  readonly isRevoked: (session: Session) => boolean;
  /** Told of every revocation from now on, in order; for those who keep them on disk. */
  readonly onEnd: (hear: (end: LoginEnd) => void) => void;
  /** Puts ends back in force that were kept, oldest first, without telling of them. */
  readonly restore: (ends: readonly LoginEnd[], allBeforeMs: number) => void;
  readonly size: () => number;
  readonly clear: () => void;
}

/** What revocations are known by. */
export const endKey = {
  session: (id: string) => `session ${id}`,
  user: (id: string) => `user ${id}`,
  atProvider: (provider: string, session: string) => `at ${provider} ${session}`,
} as const;

/** Remembers `limit` revocations at most. */
export function revocations(limit: number): Revocations {
  /** By what is revoked: sessions that began at this time or before count no more. */
  const revoked = new Map<string, number>();
  // What is forgotten for want of room must not count again: everything as old as it is refused then.
  let allBeforeMs = Number.NEGATIVE_INFINITY;
  let hear: ((end: LoginEnd) => void) | null = null;

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
      put(key, ms);
      hear?.({ key, ms });
    },
    onEnd: (hearing) => void (hear = hearing),
    restore: (ends, beforeMs) => {
      allBeforeMs = Math.max(allBeforeMs, beforeMs);
      for (const { key, ms } of ends) put(key, ms);
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
    size: () => revoked.size,
    clear: () => {
      revoked.clear();
      allBeforeMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The same id for one user of one provider, wherever it is made. */
export function userIdOf(provider: string, userId: string): string {
  return digest('sha256', [JSON.stringify([provider, userId])], 'hex').slice(0, 32);
}
