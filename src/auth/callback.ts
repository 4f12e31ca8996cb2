import { expired } from './cookies.ts';
import { awaited, type Conversation, postedForm } from './conversation.ts';
import { type LoginOutcome, userDetail } from './gate.ts';
import { recordSession, type Visit } from './visit.ts';
import { secretOf } from './keys.ts';
import { formPage, redirectTo } from './pages.ts';
import { UNKNOWN_USE, useIdOnce } from './one_time.ts';
import { type LoginState, type LoginStateProblem, takeLoginState, returnPath } from './login_state.ts';
import { isRefusal } from './provider.ts';
import { notFoundPage, onlyCookie, queryOf, refuse, stop } from './refusals.ts';
import type { Session } from './session.ts';
import { sessionCookies, tooLong } from './session_cookies.ts';
import { stateCookie } from './state_cookie.ts';

/** Form field that marks a callback re-posted by this site. */
const AGAIN = 'sent_again';

/** Handles the provider's callback; starts a session if it is valid. */
export function* callback(visit: Visit): Conversation<LoginOutcome> {
  const { gate, request } = visit;
  const isPost = gate.provider.callbackBy === 'post';
  if (request.method !== (isPost ? 'POST' : 'GET')) return notFoundPage(visit, gate.provider.callback);
  const fields = isPost ? yield* postedForm() : queryOf(request);
  if (fields === null) {
    return refuse(
      visit,
      { refused: 'callback_refused', message: 'The callback of the identity provider is incomplete.' },
      '/',
    );
  }
  if (isPost && !visit.scope.secure && onlyCookie(visit, visit.nonceCookie) === null && !fields.has(AGAIN)) {
    // Without TLS, browsers omit the nonce cookie from cross-site POSTs, so the form is posted again from
    // this site.
    const own = formPage(visit.site.callbackUrl, [...fields, [AGAIN, '1']]);
    return stop('login_started', { step: 'again', provider: gate.provider.id }, own);
  }
  const { loginState, cookie } = yield* pendingLoginOf(visit, fields);
  const outcome = yield* answered(visit, fields, loginState);
  if (cookie === null || outcome.verdict === 'pass') return outcome;
  // A pending login is removed whether it succeeded or not.
  const headers = [...outcome.response.headers, 'set-cookie', expired(cookie, visit.nonceScope)];
  return { ...outcome, response: { ...outcome.response, headers } };
}

function* answered(
  visit: Visit,
  fields: URLSearchParams,
  loginState: LoginState | LoginStateProblem,
): Conversation<LoginOutcome> {
  if (typeof loginState !== 'string') return yield* finish(visit, fields, loginState);
  if (loginState === 'state_unchecked') return refuse(visit, UNKNOWN_USE, '/');
  const isOpen = loginState !== 'state_used' && visit.gate.provider.unsolicited?.(fields) === true;
  if (isOpen) return yield* finish(visit, fields, null);
  const message = PROBLEMS[loginState];
  return refuse(visit, { refused: 'callback_refused', message, detail: { problem: loginState } }, '/');
}

interface PendingLogin {
  readonly loginState: LoginState | LoginStateProblem;
  /** Cookie that holds the state; null if there is none. */
  readonly cookie: string | null;
}

/** The pending login of a callback: the state is in the field itself, or in a cookie that the field names. */
function* pendingLoginOf(visit: Visit, fields: URLSearchParams): Conversation<PendingLogin> {
  const { gate, place, world, nonceCookie } = visit;
  const states = fields.getAll(gate.provider.stateField);
  if (states.length > 1) return { loginState: 'state_unknown', cookie: null };
  const sent = states[0] ?? null;
  const secret = onlyCookie(visit, nonceCookie);
  const take = (state: string | null) =>
    takeLoginState(
      gate.keys,
      state,
      place,
      secret,
      (id, life) => useIdOnce(visit, 'state', id, life),
      world.nowMs(),
    );
  if (gate.provider.shortState !== true) return { loginState: yield* take(sent), cookie: null };
  if (sent === null || sent === '') return { loginState: 'state_missing', cookie: null };
  const cookie = stateCookie(nonceCookie, sent);
  if (cookie === null) return { loginState: 'state_unknown', cookie };
  const state = onlyCookie(visit, cookie);
  if (state === null) return { loginState: 'other_browser', cookie: null };
  const loginState = yield* take(state);
  // A state stored under the handle of another login is not accepted.
  const isOther = typeof loginState !== 'string' && loginState.id !== sent;
  return { loginState: isOther ? 'state_unknown' : loginState, cookie };
}

const PROBLEMS = {
  state_missing: 'The callback contains no login state.',
  state_unknown: 'The callback does not belong to a login started on this site.',
  state_expired: 'The login was not completed in time.',
  other_browser: 'The login was started in another browser, or its cookies were deleted.',
  state_used: 'The login was already completed.',
} as const;

function* finish(
  visit: Visit,
  fields: URLSearchParams,
  loginState: LoginState | null,
): Conversation<LoginOutcome> {
  const { gate, registry, world } = visit;
  const answer = yield* awaited(gate.provider.finish(fields, loginState, visit));
  if (isRefusal(answer)) return refuse(visit, answer, loginState?.returnTo ?? '/');
  const nowMs = world.nowMs();
  const { user, providerSession, tokens, untilMs = null } = answer;
  const session: Session = {
    id: secretOf(world, SESSION_ID_BYTES),
    provider: gate.provider.id,
    user,
    startMs: nowMs,
    seenMs: nowMs,
    checkedMs: nowMs,
    providerSession,
    tokens,
    untilMs,
    lists: gate.provider.lists,
  };
  const cookies = sessionCookies(visit, session);
  if (cookies === null) return refuse(visit, tooLong(session), loginState?.returnTo ?? '/');
  recordSession(visit, session, registry, nowMs);
  const returnTo = returnPath(loginState?.returnTo ?? answer.returnTo ?? null, '/');
  const response = redirectTo(returnTo, cookies);
  return { ...stop('logged_in', userDetail(gate, session), response), session };
}

const SESSION_ID_BYTES = 16;
