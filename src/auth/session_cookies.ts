import type { RequestHead, World } from '../engine/contract.ts';
import { type CookieScope, isTooLong, setCookies } from './cookies.ts';
import type { LoginKeys } from './keys.ts';
import type { LoginRefusal } from './provider.ts';
import { type Session, type SessionPlace, type SessionTimes, sealSession } from './session.ts';

interface Gate {
  readonly keys: LoginKeys;
  readonly times: SessionTimes;
  readonly givesTokens: boolean;
}

/** What a session's cookies depend on. */
interface Place {
  readonly gate: Gate;
  readonly place: SessionPlace;
  readonly scope: CookieScope;
  readonly request: Pick<RequestHead, 'headers'>;
  readonly world: World;
}

/**
 * `Set-Cookie` values for a session; null if it is too long even without its optional parts. Attributes are
 * dropped first, then what only helps a logout. What limits the session or identifies the user is never
 * dropped.
 */
export function sessionCookies(
  { gate, place, scope, request, world }: Place,
  session: Session,
): string[] | null {
  for (const shorter of shortened(gate, session)) {
    const sealed = sealSession(gate.keys, shorter, place, world);
    if (isTooLong(place.cookie, sealed)) continue;
    const life = { maxAgeSeconds: null, sameSite: 'lax' } as const;
    return setCookies(place.cookie, sealed, scope, life, request.headers);
  }
  return null;
}

/** The session, then ever shorter variants. */
function* shortened(gate: Gate, session: Session): Generator<Session, void, undefined> {
  yield session;
  const { user, tokens } = session;
  const plain = { ...session, user: { ...user, groups: [] } };
  if (user.groups.length > 0) yield plain;
  if (tokens === null) return;
  // Without the hint the provider asks the user before a logout.
  const withoutIdToken = { ...plain, tokens: { ...tokens, id: null } };
  if (tokens.id !== null) yield withoutIdToken;
  // The token is not used: the upstream does not receive it, and no check needs it.
  const isIdle = !gate.givesTokens && gate.times.checkMs === 0 && tokens.refresh === null;
  if (isIdle) yield { ...withoutIdToken, tokens: null };
}

/** The refusal of a session that exceeds the cookies. */
export function tooLong({ user, tokens }: Session): LoginRefusal {
  const parts = {
    user_id: user.id.length,
    user_name: user.name.length,
    user_email: user.email.length,
    tokens: tokens === null ? 0 : tokens.access.length + (tokens.refresh?.length ?? 0),
  };
  return {
    refused: 'session_too_long',
    message: 'Your identity is too long for a session cookie.',
    detail: Object.fromEntries(
      Object.entries(parts).map(([name, units]) => [`${name}_units`, String(units)]),
    ),
  };
}
