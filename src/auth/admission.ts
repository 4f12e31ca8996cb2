import type { Conversation } from './conversation.ts';
import { type LoginOutcome, type LoginPass, userDetail } from './gate.ts';
import { identityFields } from './identity.ts';
import { keepRefreshed } from './memory.ts';
import type { IdentityProvider } from './provider.ts';
import {
  ASKED_AGAIN,
  failuresToAsk,
  isAskedByOthers,
  keepFailure,
  keepForOthers,
  refreshedByOthers,
} from './refreshed_sessions.ts';
import { checkIsDue, type Session, withLastSeen } from './session.ts';
import { sessionCookies, tooLong } from './session_cookies.ts';
import { recordSession, type Visit } from './visit.ts';

/** Passes a request with a valid session; first asks the provider if a check is due. */
export function admitted(
  visit: Visit,
  session: Session,
  refused: RefuseCheck,
): LoginOutcome | Conversation<LoginOutcome> {
  const nowMs = visit.world.nowMs();
  const { check, lists } = visit.gate.provider;
  if (check !== undefined && checkIsDue(session, visit.gate.times, lists, nowMs)) {
    const ask = () => checked(visit, session, check(session, visit), refused);
    // Changed lists are a reason to ask whatever others do.
    return visit.world.sharesState === true && session.lists === lists
      ? checkedOnce(visit, session, ask, refused)
      : ask();
  }
  const again = withLastSeen(session, visit.gate.times, nowMs);
  // A session that came in cookies fits into cookies again; if it does not, the old one stays and expires
  // earlier.
  return again === null
    ? passed(visit, session, [])
    : passed(visit, again, sessionCookies(visit, again) ?? []);
}

type RefuseCheck = (answer: object) => LoginOutcome | null;

function* checked(
  visit: Visit,
  session: Session,
  check: ReturnType<NonNullable<IdentityProvider['check']>>,
  refused: RefuseCheck,
): Conversation<LoginOutcome> {
  const answer = yield* check;
  const stop = refused(answer);
  if (stop !== null || 'refused' in answer) return stop!;
  const nowMs = visit.world.nowMs();
  const { user, tokens, providerSession } = answer;
  const { lists } = visit.gate.provider;
  const renewed = { ...session, user, tokens, providerSession, checkedMs: nowMs, seenMs: nowMs, lists };
  // The session may have been revoked while the provider was asked.
  if (visit.gate.registry.isRevoked(renewed))
    return refused({ refused: 'denied', message: 'the session was ended' })!;
  const cookies = sessionCookies(visit, renewed);
  if (cookies === null) return refused(tooLong(renewed))!;
  keepRefreshed(visit.memory, renewed, nowMs);
  yield* keepForOthers(visit, renewed);
  return passed(visit, renewed, cookies);
}

/**
 * Asks the provider unless another node has done so a moment ago, or does so now: two nodes that redeem a refresh token
 * both end the session at providers that issue a new one each time. A session passes meanwhile, but no longer once the
 * provider could not be asked: a failed check lets no request through.
 */
function* checkedOnce(
  visit: Visit,
  session: Session,
  ask: () => Conversation<LoginOutcome>,
  refused: RefuseCheck,
): Conversation<LoginOutcome> {
  const found = yield* refreshedByOthers(visit, session);
  if (found !== null) return passed(visit, found, sessionCookies(visit, found) ?? []);
  const known = yield* failuresToAsk(session);
  const failures = known ?? 0;
  if (yield* isAskedByOthers(visit, session, failures))
    return known === 0 ? passed(visit, session, []) : refused(ASKED_AGAIN)!;
  const outcome = yield* ask();
  if (outcome.reason === 'provider_failed') yield* keepFailure(visit, session, failures + 1);
  return outcome;
}

function passed(visit: Visit, session: Session, cookies: readonly string[]): LoginPass {
  const { gate, registry, world } = visit;
  recordSession(visit, session, registry, world.nowMs());
  const identity = identityFields(
    gate.identityPrefix,
    session.user,
    gate.givesTokens ? session.tokens : null,
  );
  return {
    verdict: 'pass',
    reason: 'session',
    detail: userDetail(gate, session),
    session,
    identity,
    cookies,
  };
}
