import type { DeclaredReason } from '../engine/module.ts';

/** Reasons of login gates of all protocols; modules add their type as a prefix. */
const LOGIN_REASONS = {
  session: { message: 'the request has a valid session', decision: 'allow' },
  options_passed: { message: 'OPTIONS requests pass without a login', decision: 'allow' },
  login_started: {
    message: 'there is no valid session, so the user is redirected to the provider',
    decision: 'block',
  },
  login_needed: {
    message: 'there is no valid session, and the client does not accept HTML',
    decision: 'block',
  },
  logged_in: { message: 'the provider confirmed the user, and a session begins', decision: 'block' },
  logged_out: { message: 'the user has logged out', decision: 'block' },
  callback_refused: {
    message: 'the callback does not match a login started by this browser',
    decision: 'block',
  },
  denied: { message: 'the provider refused the login', decision: 'block' },
  identity_refused: { message: 'the identity from the provider is not trustworthy', decision: 'block' },
  not_authorized: { message: 'the user is known but not authorized', decision: 'block' },
  session_too_long: {
    message: 'the identity from the provider is too long for a session cookie',
    decision: 'block',
  },
  provider_failed: { message: 'the provider is unavailable, so access is denied', decision: 'block' },
  provider_logout: { message: 'the provider ended sessions', decision: 'block' },
  answered: { message: 'a reserved path of the gate answered', decision: 'block' },
  no_such_path: { message: 'this reserved path does not exist', decision: 'block' },
  not_run: { message: 'this gate has no provider, so the request is stopped', decision: 'block' },
  cookie_set: { message: 'the session cookie is renewed', decision: 'allow' },
  cookie_kept: { message: 'the session cookie is unchanged', decision: 'allow' },
} as const satisfies Readonly<Record<string, DeclaredReason>>;

/** The messages alone, for the action face. */
export const LOGIN_MESSAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LOGIN_REASONS).map(([reason, { message }]) => [reason, message]),
);

export type LoginReason = keyof typeof LOGIN_REASONS;

/** The reasons with the prefix of one module. */
export function loginReasons<T extends string>(
  type: T,
): Readonly<Record<`${T}.${LoginReason}`, DeclaredReason>> {
  const named = Object.entries(LOGIN_REASONS).map(([reason, facts]) => [`${type}.${reason}`, facts]);
  return Object.fromEntries(named) as Readonly<Record<`${T}.${LoginReason}`, DeclaredReason>>;
}
