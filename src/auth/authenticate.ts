import type { Connection, Fact, RequestHead, World } from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import { firstValue, hasField } from '../http/fields.ts';
import { parseTarget } from '../http/target.ts';
import { admitted } from './admission.ts';
import { callback } from './callback.ts';
import { GATE_PATHS } from './gate_paths.ts';
import { cookieLine } from './cookies.ts';
import { awaited, type Conversation } from './conversation.ts';
import { type LoginGate, type LoginOutcome, userDetail } from './gate.ts';
import type { LoginMemory } from './memory.ts';
import { needsLogin, page, redirectTo, acceptsHtml } from './pages.ts';
import {
  LOGIN_STATE_MS,
  browserSecret,
  newLoginState,
  sealLoginState,
  isOwnPath,
  returnPath,
} from './login_state.ts';
import { published } from './one_time.ts';
import { isRefusal } from './provider.ts';
import { checkRefused, notFoundPage, onlyCookie, queryOf, refuse, stop } from './refusals.ts';
import { stateCookies } from './state_cookie.ts';
import { endCookies, type SessionStatus, sessionStatusOf, type Visit, visitOf } from './visit.ts';

/**
 * Handles a request at a login gate: passes it with a valid session, starts or completes a login, or ends a
 * session. Every failure stops the request with a reason and a page.
 */
export function authenticate(
  gate: LoginGate,
  request: RequestHead,
  connection: Connection,
  memory: LoginMemory,
  world: World,
): LoginOutcome | Conversation<LoginOutcome> {
  const visit = visitOf(gate, request, connection, memory, world);
  if (request.path.startsWith(gate.base)) return reserved(visit, request.path.slice(gate.base.length));
  if (request.method === 'OPTIONS' && optionsPass(gate, request)) {
    return {
      verdict: 'pass',
      reason: 'options_passed',
      detail: {},
      session: null,
      identity: [],
      cookies: [],
    };
  }
  const standing = sessionStatusOf(visit);
  if (standing.why !== null) return withoutSession(visit, standing);
  return admitted(visit, standing.session, (answer) => checkRefused(visit, standing.session, answer));
}

function optionsPass({ optionsPass: which }: LoginGate, { headers }: RequestHead): boolean {
  if (which !== 'preflight') return which === 'all';
  return hasField(headers, 'origin') && hasField(headers, 'access-control-request-method');
}

/** There is no valid session: browsers are redirected to the provider, other clients get a 401. */
function withoutSession(visit: Visit, { why }: SessionStatus): LoginOutcome | Conversation<LoginOutcome> {
  const { gate, request, place } = visit;
  const detail = { session: why ?? 'none' };
  const loginPath = gate.base + gate.loginPath;
  const facts = { realm: gate.realm, loginPath, cookie: place.cookie };
  if (!acceptsHtml(request.headers)) {
    const message = 'A session is required: log in with a browser first.';
    return stop('login_needed', detail, needsLogin(gate.code('login_needed'), message, facts));
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    // The request body is lost by a login, and a redirect must not repeat an unsafe request without the
    // user's consent.
    const challenge = needsLogin(gate.code('login_needed'), '', facts).headers.slice(-2);
    const shown = page(401, 'Please log in', 'Your session has ended, and your request was not processed.', {
      code: gate.code('login_needed'),
      link: { href: `${loginPath}?redirect_path=${encodeURIComponent(request.path)}`, text: 'Log in' },
      cookies: endCookies(visit),
    });
    return stop('login_needed', detail, { ...shown, headers: [...shown.headers, ...challenge] });
  }
  const query = request.query === undefined ? '' : `?${request.query}`;
  return begin(visit, returnPath(request.path + query, returnPath(request.path, '/')), detail);
}

/** Redirects the browser to the provider. */
function* begin(visit: Visit, returnTo: string, detail: Record<string, Fact>): Conversation<LoginOutcome> {
  const { gate, request, world, place, nonceScope: scope, nonceCookie } = visit;
  const secret = browserSecret(onlyCookie(visit, nonceCookie), world);
  const loginState = newLoginState(secret, returnTo, world);
  const state = sealLoginState(gate.keys, loginState, place, world);
  const isShort = gate.provider.shortState === true;
  const begun = yield* awaited(gate.provider.begin(loginState, isShort ? loginState.id : state, visit));
  if (isRefusal(begun)) return refuse(visit, begun, returnTo);
  const life = {
    maxAgeSeconds: LOGIN_STATE_MS / 1_000,
    sameSite: gate.provider.callbackBy === 'post' ? 'none' : 'lax',
  } as const;
  const waiting = isShort
    ? stateCookies(loginState, state, {
        nonceCookie,
        scope,
        headers: request.headers,
        keys: gate.keys,
        place,
      })
    : [];
  const cookies = [...endCookies(visit), cookieLine(nonceCookie, secret, scope, life), ...waiting];
  const facts = { ...detail, provider: gate.provider.id };
  if ('response' in begun) {
    const headers = [...begun.response.headers, ...cookies.flatMap((cookie) => ['set-cookie', cookie])];
    return stop('login_started', facts, { ...begun.response, headers });
  }
  const response = redirectTo(begun.location, cookies);
  return stop('login_started', facts, request.method === 'HEAD' ? { ...response, body: '' } : response);
}

function reserved(visit: Visit, path: string): LoginOutcome | Conversation<LoginOutcome> {
  const { gate } = visit;
  switch (path) {
    case gate.loginPath:
      return login(visit);
    case GATE_PATHS.logout:
      return logout(visit);
    case GATE_PATHS.signedOut:
      return stop('logged_out', { step: 'page' }, signedOutPage(visit));
    case gate.provider.callback:
      return callback(visit);
  }
  const other = gate.provider.other?.(path, visit) ?? null;
  return other === null ? notFoundPage(visit, path) : further(visit, other);
}

function* further(
  visit: Visit,
  other: Exclude<ReturnType<NonNullable<LoginGate['provider']['other']>>, null>,
): Conversation<LoginOutcome> {
  const { reason, detail, response, endsSession } = yield* awaited(other);
  if (endsSession !== true) return stop(reason, detail, response);
  const cookies = endCookies(visit).flatMap((cookie) => ['set-cookie', cookie]);
  return stop(reason, detail, { ...response, headers: [...response.headers, ...cookies] });
}

/** `redirect_path` can be set by a link on any page, so paths outside this origin are ignored. */
function login(visit: Visit): LoginOutcome | Conversation<LoginOutcome> {
  const { request } = visit;
  if (request.method !== 'GET' && request.method !== 'HEAD') return notFoundPage(visit, visit.gate.loginPath);
  const wanted = queryOf(request).get('redirect_path');
  const own = wanted !== null && isOwnPath(wanted) ? parseTarget(wanted) : null;
  const returnTo = own === null || 'problem' in own ? '/' : wanted!;
  return begin(visit, returnTo, { session: 'asked' });
}

function* logout(visit: Visit): Conversation<LoginOutcome> {
  const { gate, request, registry, world } = visit;
  const { session } = sessionStatusOf(visit);
  const site = firstValue(request.headers, 'sec-fetch-site');
  if (session !== null && site !== undefined && !OWN_SITES.has(site)) {
    // A link or image on another site or host must not log users out, so the user is asked first.
    const link = { href: gate.base + GATE_PATHS.logout, text: 'Log out' };
    const shown = page(200, 'Log out?', 'A link on another site or host leads to this logout.', { link });
    return stop('logged_out', { step: 'confirm' }, shown);
  }
  const cookies = endCookies(visit);
  if (session === null)
    return stop('logged_out', { step: 'none' }, redirectTo(`${gate.base}${GATE_PATHS.signedOut}`, cookies));
  registry.revokeSession(session.id, world.nowMs());
  yield* published(visit);
  const away = gate.provider.logout?.(session, visit) ?? null;
  const url = away === null || typeof away === 'string' ? away : yield* away;
  const detail = { step: url === null ? 'here' : 'provider', ...userDetail(gate, session) };
  return {
    ...stop('logged_out', detail, redirectTo(url ?? `${gate.base}${GATE_PATHS.signedOut}`, cookies)),
    session,
  };
}

/**
 * Values of `Sec-Fetch-Site` for requests initiated by this origin or directly by the user (Fetch Metadata
 * §2.4).
 */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

function signedOutPage({ gate }: Visit): LocalResponse {
  const link = { href: gate.base + gate.loginPath, text: 'Log in again' };
  return page(200, 'Logged out', 'You are logged out of this site.', { link });
}
