import type { Connection, Fact, LocalResponse, RequestHead, World } from '../../engine/contract.ts';
import { hasField } from '../../http/fields.ts';
import { parseTarget } from '../../http/target.ts';
import { cookieLine, cookieValues } from './cookies.ts';
import { type Flow, asked } from './flow.ts';
import {
  type LoginGate,
  type LoginOutcome,
  type LoginStop,
  type Standing,
  type Visit,
  admitted,
  awaited,
  endCookies,
  sessionCookies,
  sighted,
  standingOf,
  userDetail,
  visitOf,
} from './gate.ts';
import type { LoginMemory } from './memory.ts';
import { secretOf } from './keys.ts';
import { formPage, needsLogin, page, redirectTo, takesPages } from './pages.ts';
import { PENDING_MS, type Pending, browserSecret, newPending, sealPending, takePending } from './pending.ts';
import { type LoginRefusal, isRefusal } from './provider.ts';
import type { LoginReason } from './reasons.ts';
import { isOwnPath, returnPath } from './return_to.ts';
import type { Session } from './session.ts';

/**
 * Takes one request before a gate: lets it pass with a good session, starts a login, finishes one, ends a session.
 * Whatever goes wrong on the way stops the request, with a reason and a page.
 */
export function admit(
  gate: LoginGate,
  request: RequestHead,
  connection: Connection,
  memory: LoginMemory,
  world: World,
): LoginOutcome | Flow<LoginOutcome> {
  const visit = visitOf(gate, request, connection, memory, world);
  if (request.path.startsWith(gate.base)) return reserved(visit, request.path.slice(gate.base.length));
  if (request.method === 'OPTIONS' && optionsPass(gate, request)) {
    return { does: 'pass', reason: 'options_passed', detail: {}, session: null, identity: [], cookies: [] };
  }
  const standing = standingOf(visit);
  if (standing.why !== null) return withoutSession(visit, standing);
  return admitted(visit, standing.session, (answer) => checkRefused(visit, standing.session, answer));
}

function optionsPass({ optionsPass: which }: LoginGate, { headers }: RequestHead): boolean {
  if (which !== 'preflight') return which === 'all';
  return hasField(headers, 'origin') && hasField(headers, 'access-control-request-method');
}

/** Nobody is known yet: people are sent to the provider, programs are told. */
function withoutSession(visit: Visit, { why }: Standing): LoginOutcome | Flow<LoginOutcome> {
  const { gate, request, place } = visit;
  const detail = { session: why ?? 'none' };
  const loginPath = gate.base + gate.loginPath;
  const facts = { realm: gate.realm, loginPath, cookie: place.cookie };
  if (!takesPages(request.headers)) {
    const says = 'This needs a session: log in with a browser first.';
    return stop('login_needed', detail, needsLogin(gate.code('login_needed'), says, facts));
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    // What was sent is lost by a login, and must not be sent again by a redirect that the user did not ask for.
    const challenge = needsLogin(gate.code('login_needed'), '', facts).headers.slice(-2);
    const shown = page(401, 'Please log in', 'Your session is over, and what you have sent was not taken.', {
      code: gate.code('login_needed'),
      link: { href: `${loginPath}?redirect_path=${encodeURIComponent(request.path)}`, text: 'Log in' },
      cookies: endCookies(visit),
    });
    return stop('login_needed', detail, { ...shown, headers: [...shown.headers, ...challenge] });
  }
  const query = request.query === undefined ? '' : `?${request.query}`;
  return begin(visit, returnPath(request.path + query, returnPath(request.path, '/')), detail);
}

/** Sends the browser to the provider. */
function* begin(visit: Visit, returnTo: string, detail: Record<string, Fact>): Flow<LoginOutcome> {
  const { gate, request, world, place, scope, nonceCookie } = visit;
  const secret = browserSecret(onlyCookie(visit, nonceCookie), world);
  const pending = newPending(secret, returnTo, world);
  const state = sealPending(gate.keys, pending, place, world);
  const begun = yield* awaited(gate.provider.begin(pending, state, visit));
  if (isRefusal(begun)) return refuse(visit, begun, returnTo);
  const life = {
    maxAgeSeconds: PENDING_MS / 1_000,
    sameSite: gate.provider.callbackBy === 'post' ? 'none' : 'lax',
  } as const;
  const cookies = [...endCookies(visit), cookieLine(nonceCookie, secret, scope, life)];
  const facts = { ...detail, provider: gate.provider.id };
  if ('response' in begun) {
    const headers = [...begun.response.headers, ...cookies.flatMap((cookie) => ['set-cookie', cookie])];
    return stop('login_started', facts, { ...begun.response, headers });
  }
  const response = redirectTo(begun.location, cookies);
  return stop('login_started', facts, request.method === 'HEAD' ? { ...response, body: '' } : response);
}

/** A cookie that is there exactly once. */
function onlyCookie({ request }: Visit, name: string): string | null {
  const values = cookieValues(request.headers, name);
  return values.length === 1 ? values[0]! : null;
}

// --- reserved paths ------------------------------------------------------------------------------------------

function reserved(visit: Visit, path: string): LoginOutcome | Flow<LoginOutcome> {
  const { gate } = visit;
  switch (path) {
    case gate.loginPath:
      return login(visit);
    case 'logout':
      return logout(visit);
    case 'signed_out':
      return stop('logged_out', { step: 'page' }, signedOutPage(visit));
    case gate.provider.callback:
      return callback(visit);
  }
  const other = gate.provider.other?.(path, visit) ?? null;
  return other === null ? nothingThere(visit, path) : further(visit, other);
}

function nothingThere({ gate }: Visit, path: string): LoginStop {
  const shown = page(404, 'Not found', 'There is nothing at this address.', {
    code: gate.code('no_such_path'),
  });
  return stop('no_such_path', { path: path.slice(0, 100) }, shown);
}

function* further(
  visit: Visit,
  other: Exclude<ReturnType<NonNullable<LoginGate['provider']['other']>>, null>,
): Flow<LoginOutcome> {
  const { reason, detail, response, endsSession } = yield* awaited(other);
  if (endsSession !== true) return stop(reason, detail, response);
  const cookies = endCookies(visit).flatMap((cookie) => ['set-cookie', cookie]);
  return stop(reason, detail, { ...response, headers: [...response.headers, ...cookies] });
}

/** `redirect_path` is what a link on one's own pages may name; anything that leaves this origin is ignored. */
function login(visit: Visit): LoginOutcome | Flow<LoginOutcome> {
  const { request } = visit;
  if (request.method !== 'GET' && request.method !== 'HEAD') return nothingThere(visit, visit.gate.loginPath);
  const wanted = queryOf(request).get('redirect_path');
  const own = wanted !== null && isOwnPath(wanted) ? parseTarget(wanted) : null;
  const returnTo = own === null || 'problem' in own ? '/' : wanted!;
  return begin(visit, returnTo, { session: 'asked' });
}

function* logout(visit: Visit): Flow<LoginOutcome> {
  const { gate, request, registry, world } = visit;
  const { session } = standingOf(visit);
  const site = request.headers.findIndex((name) => name.toLowerCase() === 'sec-fetch-site');
  if (session !== null && site >= 0 && request.headers[site + 1] === 'cross-site') {
    // Another site must not be able to log users out by a link or an image: it is asked of the user.
    const link = { href: `${gate.base}logout`, text: 'Log out' };
    const shown = page(200, 'Log out?', 'Another site has sent you here to log out.', { link });
    return stop('logged_out', { step: 'confirm' }, shown);
  }
  const cookies = endCookies(visit);
  if (session === null)
    return stop('logged_out', { step: 'none' }, redirectTo(`${gate.base}signed_out`, cookies));
  registry.revokeSession(session.id, world.nowMs());
  const away = gate.provider.logout?.(session, visit) ?? null;
  const url = away === null || typeof away === 'string' ? away : yield* away;
  const detail = { step: url === null ? 'here' : 'provider', ...userDetail(gate, session) };
  return { ...stop('logged_out', detail, redirectTo(url ?? `${gate.base}signed_out`, cookies)), session };
}

function signedOutPage({ gate }: Visit): LocalResponse {
  const link = { href: gate.base + gate.loginPath, text: 'Log in again' };
  return page(200, 'Logged out', 'You have logged out here.', { link });
}

const FORM_LIMIT_BYTES = 1_024 * 1_024;
/** Field of a callback's form that this site has sent on itself. */
const AGAIN = 'sent_again';

function* callback(visit: Visit): Flow<LoginOutcome> {
  const { gate, request } = visit;
  const isPost = gate.provider.callbackBy === 'post';
  if (request.method !== (isPost ? 'POST' : 'GET')) return nothingThere(visit, gate.provider.callback);
  const fields = isPost ? yield* formFields() : queryOf(request);
  if (fields === null) {
    return refuse(
      visit,
      { refused: 'callback_refused', says: 'The answer of the provider did not come whole.' },
      '/',
    );
  }
  if (isPost && !visit.scope.secure && onlyCookie(visit, visit.nonceCookie) === null && !fields.has(AGAIN)) {
    // Without TLS the nonce cookie does not come along with a form of another site; from this one it does.
    const own = formPage(visit.site.callbackUrl, [...fields, [AGAIN, '1']]);
    return stop('login_started', { step: 'again', provider: gate.provider.id }, own);
  }
  const pending = pendingOf(visit, fields);
  if (typeof pending === 'string') {
    const isOpen = pending !== 'state_used' && gate.provider.unsolicited?.(fields) === true;
    if (!isOpen) {
      const says = PROBLEMS[pending];
      return refuse(visit, { refused: 'callback_refused', says, detail: { problem: pending } }, '/');
    }
    return yield* finish(visit, fields, null);
  }
  return yield* finish(visit, fields, pending);
}

function pendingOf(visit: Visit, fields: URLSearchParams): Pending | ReturnType<typeof takePending> {
  const { gate, place, memory, world, nonceCookie } = visit;
  const states = fields.getAll(gate.provider.stateField);
  if (states.length > 1) return 'state_unknown';
  const secret = onlyCookie(visit, nonceCookie);
  return takePending(gate.keys, states[0] ?? null, place, secret, memory, world.nowMs());
}

const PROBLEMS = {
  state_missing: 'This answer belongs to no login.',
  state_unknown: 'This answer belongs to no login that was begun here.',
  state_expired: 'This login took too long.',
  other_browser: 'This login was begun in another browser, or its cookies are gone.',
  state_used: 'This login was finished before.',
} as const;

function* formFields(): Flow<URLSearchParams | null> {
  const answer = yield* asked({ ask: 'body', limitBytes: FORM_LIMIT_BYTES });
  return 'bytes' in answer ? new URLSearchParams(new TextDecoder().decode(answer.bytes)) : null;
}

function* finish(visit: Visit, fields: URLSearchParams, pending: Pending | null): Flow<LoginOutcome> {
  const { gate, registry, world } = visit;
  const answer = yield* awaited(gate.provider.finish(fields, pending, visit));
  if (isRefusal(answer)) return refuse(visit, answer, pending?.returnTo ?? '/');
  const nowMs = world.nowMs();
  const { user, providerSession, tokens } = answer;
  const session: Session = {
    id: secretOf(world, SESSION_ID_BYTES),
    provider: gate.provider.id,
    user,
    startMs: nowMs,
    seenMs: nowMs,
    checkedMs: nowMs,
    providerSession,
    tokens,
  };
  sighted(visit, session, registry, nowMs);
  const returnTo = returnPath(pending?.returnTo ?? answer.returnTo ?? null, '/');
  const response = redirectTo(returnTo, sessionCookies(visit, session));
  return { ...stop('logged_in', userDetail(gate, session), response), session };
}

const SESSION_ID_BYTES = 16;

function queryOf({ query }: RequestHead): URLSearchParams {
  return new URLSearchParams(query ?? '');
}

// --- refusals ------------------------------------------------------------------------------------------------

const STATUS: Readonly<Record<LoginRefusal['refused'], number>> = {
  callback_refused: 400,
  denied: 403,
  identity_refused: 403,
  not_authorized: 403,
  provider_failed: 502,
};

const TITLES: Readonly<Record<LoginRefusal['refused'], string>> = {
  callback_refused: 'This login cannot be finished',
  denied: 'The login was refused',
  identity_refused: 'This identity cannot be trusted',
  not_authorized: 'You are not let in',
  provider_failed: 'The identity provider cannot be reached',
};

/** The page of a login that came to nothing. No session begins; one that there was is not for a stray callback to end. */
function refuse(
  visit: Visit,
  refusal: LoginRefusal,
  returnTo: string,
  cookies: readonly string[] = [],
): LoginStop {
  const { gate } = visit;
  const { refused, says, detail = {} } = refusal;
  const again = `${gate.base}${gate.loginPath}?redirect_path=${encodeURIComponent(returnTo)}`;
  const shown = page(STATUS[refused], TITLES[refused], says, {
    code: gate.code(refused),
    link: { href: again, text: 'Try again' },
    cookies,
  });
  return stop(refused, { says, provider: gate.provider.id, ...detail }, shown);
}

/** A check that failed ends the session, except that an outage only stops this request: the session may yet be good. */
function checkRefused(visit: Visit, session: Session, answer: object): LoginOutcome | null {
  if (!isRefusal(answer)) return null;
  const { gate, request, registry, world } = visit;
  const user = userDetail(gate, session);
  if (answer.refused !== 'provider_failed') {
    registry.revokeSession(session.id, world.nowMs());
    const refused = refuse(visit, answer, '/', endCookies(visit));
    return { ...refused, detail: { ...user, ...refused.detail } };
  }
  const code = gate.code('provider_failed');
  const shown = takesPages(request.headers)
    ? page(502, TITLES.provider_failed, answer.says, {
        code,
        link: { href: request.path, text: 'Try again' },
      })
    : failedForPrograms(code, answer.says);
  return stop('provider_failed', { ...user, says: answer.says, ...answer.detail }, shown);
}

function failedForPrograms(code: string, says: string): LocalResponse {
  const body = `${JSON.stringify({ error: 'provider_failed', reason: code, message: says })}\n`;
  return { status: 502, headers: ['content-type', 'application/json', 'cache-control', 'no-store'], body };
}

function stop(reason: LoginReason, detail: Record<string, Fact>, response: LocalResponse): LoginStop {
  return { does: 'stop', reason, detail, session: null, response };
}
