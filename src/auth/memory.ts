import type { Session } from './session.ts';

/** Sessions whose refresh is remembered, for requests that the browser had sent before it had the new cookie. */
const RENEWED_LIMIT = 10_000;
const RENEWED_MS = 60_000;

/**
 * What a gate remembers between requests, until its configuration changes; what must count once is in the registry.
 * A pending login itself is in neither: it travels, sealed, in `state`, so that any number of them costs no memory and
 * any node can finish one.
 */
export interface LoginMemory {
  readonly renewed: Map<string, { readonly session: Session; readonly atMs: number }>;
  /** What the identity provider's protocol remembers (discovered metadata); by its own keys. */
  readonly protocol: Map<string, unknown>;
}

export function loginMemory(): LoginMemory {
  return { renewed: new Map(), protocol: new Map() };
}

/** Keeps a session that was just renewed. */
export function keepRenewed({ renewed }: LoginMemory, session: Session, nowMs: number): void {
  renewed.delete(session.id);
  renewed.set(session.id, { session, atMs: nowMs });
  for (const [id, { atMs }] of renewed) {
    if (renewed.size <= RENEWED_LIMIT && nowMs - atMs < RENEWED_MS) break;
    renewed.delete(id);
  }
}

/** The session as it was renewed a moment ago by another request; itself when it was not. */
export function renewedOf({ renewed }: LoginMemory, session: Session, nowMs: number): Session {
  const known = renewed.get(session.id);
  if (known === undefined || nowMs - known.atMs >= RENEWED_MS || nowMs < known.atMs) return session;
  return known.session.checkedMs >= session.checkedMs
    ? { ...known.session, seenMs: session.seenMs }
    : session;
}
