import type { Session } from './session.ts';

/** Refreshed sessions are remembered for requests that the browser sent before it received the new cookie. */
const REFRESHED_LIMIT = 10_000;
export const REFRESHED_MS = 60_000;

/**
 * What a gate remembers until its configuration changes. Data that must survive (used ids, revocations) is in
 * the registry. Pending logins are in neither: they travel sealed in `state`, so they need no memory, and any
 * node can complete them.
 */
export interface LoginMemory {
  readonly renewed: Map<string, { readonly session: Session; readonly atMs: number }>;
  /** Data of the protocol (discovered metadata); the provider chooses the keys. */
  readonly protocol: Map<string, unknown>;
}

export function loginMemory(): LoginMemory {
  return { renewed: new Map(), protocol: new Map() };
}

/** Remembers a refreshed session. */
export function keepRefreshed({ renewed }: LoginMemory, session: Session, nowMs: number): void {
  renewed.delete(session.id);
  renewed.set(session.id, { session, atMs: nowMs });
  for (const [id, { atMs }] of renewed) {
    if (renewed.size <= REFRESHED_LIMIT && nowMs - atMs < REFRESHED_MS) break;
    renewed.delete(id);
  }
}

/** The session as refreshed by another request a moment ago; the session itself if it was not. */
export function refreshedOf({ renewed }: LoginMemory, session: Session, nowMs: number): Session {
  const known = renewed.get(session.id);
  if (known === undefined || nowMs - known.atMs >= REFRESHED_MS || nowMs < known.atMs) return session;
  return known.session.checkedMs >= session.checkedMs
    ? { ...known.session, seenMs: session.seenMs }
    : session;
}
