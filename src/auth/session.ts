import { CLOCKS_DIFFER_MS } from './limits.ts';
import type { World } from '../engine/contract.ts';
import type { LoginTokens, LoginUser } from './identity.ts';
import { type LoginKeys, openFor, sealFor } from './keys.ts';

/** A login session. It is stored sealed in the user's cookie, so that any node with the key can read it. */
export interface Session {
  /** New at each login, which prevents session fixation. */
  readonly id: string;
  readonly provider: string;
  readonly user: LoginUser;
  readonly startMs: number;
  /** Last request; accurate to the second. */
  readonly seenMs: number;
  /** When the provider last confirmed the user. */
  readonly checkedMs: number;
  /** The provider's session id (`sid`, SessionIndex); null if it has none. */
  readonly providerSession: string | null;
  readonly tokens: LoginTokens | null;
  /** When the session ends according to the provider; null if it does not say. */
  readonly untilMs: number | null;
  /** Digest of the authorization lists at login; if they change, the user is checked again. */
  readonly lists: string;
}

/** What a session is bound to. */
export interface SessionPlace {
  readonly cookie: string;
  /** Host, or the domain of the cookie if it has one. */
  readonly host: string;
  /** Id of the route or the action. */
  readonly gate: string;
}

/** Times of a gate; 0: no limit. */
export interface SessionTimes {
  readonly inactivityMs: number;
  readonly maximumMs: number;
  readonly checkMs: number;
}

/** Why a session has ended; `ahead`: its start is in the future because a clock was adjusted. */
export type SessionEnd = 'inactive' | 'expired' | 'ahead';

/** When a session ends regardless of activity; null if it has no such limit. */
export function expiryOf({ startMs, untilMs }: Session, { maximumMs }: SessionTimes): number | null {
  if (maximumMs === 0) return untilMs;
  return Math.min(startMs + maximumMs, untilMs ?? Number.POSITIVE_INFINITY);
}

/** When a session ends without further requests; null if it has no such limit. */
export function idleEndOf(session: Session, times: SessionTimes): number | null {
  const endMs = expiryOf(session, times);
  if (times.inactivityMs === 0) return endMs;
  return Math.min(session.seenMs + times.inactivityMs, endMs ?? Number.POSITIVE_INFINITY);
}

/** `seenMs` is updated at most once a second, so timeouts are accurate to a second. */
const SEEN_EVERY_MS = 1_000;
const FORM = 2;

function placeText({ cookie, host, gate }: SessionPlace): string {
  return `session\n${cookie}\n${host}\n${gate}`;
}

/** Seals a session for its place; takes about 5 µs. */
export function sealSession(keys: LoginKeys, session: Session, place: SessionPlace, world: World): string {
  const { id, provider, user, startMs, seenMs, checkedMs, providerSession, tokens, untilMs, lists } = session;
  const kept = tokens === null ? 0 : [tokens.access, tokens.refresh, tokens.id, tokens.expiresMs];
  const about = [user.id, user.name, user.email, user.groups];
  const times = [startMs, seenMs, checkedMs, untilMs];
  const text = JSON.stringify([FORM, id, provider, about, times, providerSession, kept, lists]);
  return sealFor(keys, text, placeText(place), world);
}

type Written = readonly [
  form: number,
  id: string,
  provider: string,
  user: readonly [string, string, string, readonly string[]],
  times: readonly [startMs: number, seenMs: number, checkedMs: number, untilMs: number | null],
  providerSession: string | null,
  tokens: 0 | readonly [string, string | null, string | null, number | null],
  lists: string,
];

/** Opens a session; null if it was forged, damaged or sealed for another place. */
export function openSession(keys: LoginKeys, sealed: string, place: SessionPlace): Session | null {
  const text = openFor(keys, sealed, placeText(place));
  if (text === null) return null;
  // The value is authenticated, so its shape is known.
  const [form, id, provider, user, times, providerSession, kept, lists] = JSON.parse(text) as Written;
  // Earlier releases used other formats.
  if (form !== FORM) return null;
  const [startMs, seenMs, checkedMs, untilMs] = times;
  const tokens = kept === 0 ? null : { access: kept[0], refresh: kept[1], id: kept[2], expiresMs: kept[3] };
  const [userId, name, email, groups] = user;
  return {
    id,
    provider,
    user: { id: userId, name, email, groups },
    startMs,
    seenMs,
    checkedMs,
    providerSession,
    tokens,
    untilMs,
    lists,
  };
}

/**
 * Why the session has ended at `nowMs`, or null. A limit is exclusive: the session has ended at that
 * millisecond.
 */
export function sessionEnd(session: Session, times: SessionTimes, nowMs: number): SessionEnd | null {
  if (session.startMs > nowMs + CLOCKS_DIFFER_MS || session.seenMs > nowMs + CLOCKS_DIFFER_MS) return 'ahead';
  if (session.untilMs !== null && nowMs >= session.untilMs) return 'expired';
  if (times.maximumMs > 0 && nowMs - session.startMs >= times.maximumMs) return 'expired';
  if (times.inactivityMs > 0 && nowMs - session.seenMs >= times.inactivityMs) return 'inactive';
  return null;
}

/**
 * Whether the provider must confirm the user before this request: the interval has passed, the token has
 * expired, or the authorization lists have changed.
 */
export function checkIsDue(
  session: Session,
  { checkMs }: SessionTimes,
  lists: string,
  nowMs: number,
): boolean {
  const { checkedMs, tokens } = session;
  if (session.lists !== lists) return true;
  if (checkMs > 0 && (nowMs - checkedMs >= checkMs || checkedMs > nowMs + CLOCKS_DIFFER_MS)) return true;
  return tokens !== null && tokens.refresh !== null && tokens.expiresMs !== null && nowMs >= tokens.expiresMs;
}

/** The session with an updated `seenMs`, or null if the cookie is recent enough. */
export function withLastSeen(
  session: Session,
  { inactivityMs }: SessionTimes,
  nowMs: number,
): Session | null {
  return inactivityMs > 0 && nowMs - session.seenMs >= SEEN_EVERY_MS ? { ...session, seenMs: nowMs } : null;
}
