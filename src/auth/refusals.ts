import type { Fact, RequestHead } from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import { cookieValues } from './cookies.ts';
import { type LoginOutcome, type LoginStop, userDetail } from './gate.ts';
import { endCookies, type Visit } from './visit.ts';
import { page, acceptsHtml } from './pages.ts';
import { type LoginRefusal, isRefusal } from './provider.ts';
import type { LoginReason } from './reasons.ts';
import type { Session } from './session.ts';

/** The page for a reserved path that does not exist. */
export function notFoundPage({ gate }: Visit, path: string): LoginStop {
  const shown = page(404, 'Not found', 'This address does not exist.', {
    code: gate.code('no_such_path'),
  });
  return stop('no_such_path', { path: path.slice(0, 100) }, shown);
}

/** The value of a cookie that occurs exactly once; null otherwise. */
export function onlyCookie({ request }: Visit, name: string): string | null {
  const values = cookieValues(request.headers, name);
  return values.length === 1 ? values[0]! : null;
}

export function queryOf({ query }: RequestHead): URLSearchParams {
  return new URLSearchParams(query ?? '');
}

const STATUS: Readonly<Record<LoginRefusal['refused'], number>> = {
  callback_refused: 400,
  denied: 403,
  identity_refused: 403,
  not_authorized: 403,
  provider_failed: 502,
  session_too_long: 403,
};

const TITLES: Readonly<Record<LoginRefusal['refused'], string>> = {
  callback_refused: 'The login cannot be completed',
  denied: 'The login was refused',
  identity_refused: 'The identity is not trustworthy',
  not_authorized: 'Access denied',
  provider_failed: 'The identity provider cannot be reached',
  session_too_long: 'The identity is too long for a session',
};

/** The page of a failed login. An existing session continues, so that a stray callback cannot end it. */
export function refuse(
  visit: Visit,
  refusal: LoginRefusal,
  returnTo: string,
  cookies: readonly string[] = [],
): LoginStop {
  const { gate } = visit;
  const { refused, message, title = TITLES[refused], detail = {} } = refusal;
  const again = `${gate.base}${gate.loginPath}?redirect_path=${encodeURIComponent(returnTo)}`;
  const shown = page(STATUS[refused], title, message, {
    code: gate.code(refused),
    link: { href: again, text: 'Try again' },
    cookies,
  });
  return stop(refused, { message, provider: gate.provider.id, ...detail }, shown);
}

/**
 * A failed check ends the session; an outage stops only this request, because the session may still be valid.
 */
export function checkRefused(visit: Visit, session: Session, answer: object): LoginOutcome | null {
  if (!isRefusal(answer)) return null;
  const { gate, request, registry, world } = visit;
  const user = userDetail(gate, session);
  if (answer.refused !== 'provider_failed') {
    registry.revokeSession(session.id, world.nowMs());
    const refused = refuse(visit, answer, '/', endCookies(visit));
    return { ...refused, detail: { ...user, ...refused.detail } };
  }
  const code = gate.code('provider_failed');
  const shown = acceptsHtml(request.headers)
    ? page(502, TITLES.provider_failed, answer.message, {
        code,
        link: { href: request.path, text: 'Try again' },
      })
    : failedForPrograms(code, answer.message);
  return stop('provider_failed', { ...user, message: answer.message, ...answer.detail }, shown);
}

function failedForPrograms(code: string, message: string): LocalResponse {
  const body = `${JSON.stringify({ error: 'provider_failed', reason: code, message })}\n`;
  return { status: 502, headers: ['content-type', 'application/json', 'cache-control', 'no-store'], body };
}

export function stop(reason: LoginReason, detail: Record<string, Fact>, response: LocalResponse): LoginStop {
  return { verdict: 'stop', reason, detail, session: null, response };
}
