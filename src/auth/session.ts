import type { World } from '../engine/contract.ts';
import type { LoginTokens, LoginUser } from './identity.ts';
import { type LoginKeys, openFor, sealFor } from './keys.ts';

/** A login as it is kept: whole, sealed, in the user's cookie, so that any node with the key can read it. */
export interface Session {
  /** Made anew at each login, so that nobody can fix it beforehand. */
  readonly id: string;
  readonly provider: string;
  readonly user: LoginUser;
  readonly startMs: number;
  /** Last request, to the second. */
  readonly seenMs: number;
  /** When the provider last vouched for the user. */
  readonly checkedMs: number;
  /** The provider's own id of its session (`sid`, SessionIndex); null when there is none. */
  readonly providerSession: string | null;
  readonly tokens: LoginTokens | null;
  /** When it ends because the provider has said so; null when the provider has not. */
  readonly untilMs: number | null;
  /** Digest of the lists by which the user was let in: under other lists the user is checked again. */
  readonly lists: string;
}

/** Where a session counts: what it is bound to. */
export interface SessionPlace {
  readonly cookie: string;
  /** Host, or the domain of the cookie where it has one. */
  readonly host: string;
  /** Id of the route, or of the action. */
  readonly gate: string;
}

/** Times of a gate; 0 means none. */
export interface SessionTimes {
  readonly inactivityMs: number;
  readonly maximumMs: number;
  readonly checkMs: number;
}

/** Why a session is over; `ahead`: it was made in the future, because a clock jumped. */
export type SessionEnd = 'inactive' | 'expired' | 'ahead';

/** When a session ends whatever its user does; null when it does not. */
export function expiryOf({ startMs, untilMs }: Session, { maximumMs }: SessionTimes): number | null {
  if (maximumMs === 0) return untilMs;
  return Math.min(startMs + maximumMs, untilMs ?? Number.POSITIVE_INFINITY);
}

/** When a session ends if no further request comes; null when it does not. */
export function idleEndOf(session: Session, times: SessionTimes): number | null {
  const endMs = expiryOf(session, times);
  if (times.inactivityMs === 0) return endMs;
  return Math.min(session.seenMs + times.inactivityMs, endMs ?? Number.POSITIVE_INFINITY);
}

/** Clocks of nodes may differ by so much. */
const CLOCKS_DIFFER_MS = 60_000;
/** `seenMs` is written anew only after so long: timeouts are to the second. */
const SEEN_EVERY_MS = 1_000;
const FORM = 2;

function placeText({ cookie, host, gate }: SessionPlace): string {
  return `session\n${cookie}\n${host}\n${gate}`;
}

/** Seals a session for its place; about 5 µs. */
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

/** Opens a session; null when it is not one of ours, of this place, whole and unchanged. */
export function openSession(keys: LoginKeys, sealed: string, place: SessionPlace): Session | null {
  const text = openFor(keys, sealed, placeText(place));
  if (text === null) return null;
  // What opens was written by `sealSession`: its shape is known.
  const [form, id, provider, user, times, providerSession, kept, lists] = JSON.parse(text) as Written;
  // A release before this one wrote other forms.
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

/** Why the session is over at `nowMs`, or null while it is not. At the very second of a limit it is over. */
export function sessionEnd(session: Session, times: SessionTimes, nowMs: number): SessionEnd | null {
  if (session.startMs > nowMs + CLOCKS_DIFFER_MS || session.seenMs > nowMs + CLOCKS_DIFFER_MS) return 'ahead';
  if (session.untilMs !== null && nowMs >= session.untilMs) return 'expired';
  if (times.maximumMs > 0 && nowMs - session.startMs >= times.maximumMs) return 'expired';
  if (times.inactivityMs > 0 && nowMs - session.seenMs >= times.inactivityMs) return 'inactive';
  return null;
}

/**
 * Whether the provider must vouch for the user again before this request: the interval is over, the token has
 * expired, or the lists of those who are let in have changed.
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

/** The session as seen now, or null when the cookie says so well enough. */
export function seenAgain(session: Session, { inactivityMs }: SessionTimes, nowMs: number): Session | null {
  return inactivityMs > 0 && nowMs - session.seenMs >= SEEN_EVERY_MS ? { ...session, seenMs: nowMs } : null;
}
