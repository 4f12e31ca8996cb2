import type { DeclaredReason } from '../engine/module.ts';

/** Everything that a gate may come to, of whatever protocol; the modules put their type before it. */
const LOGIN_REASONS = {
  session: { message: 'the request has a good session', decision: 'allow' },
  options_passed: { message: 'OPTIONS requests pass without a login', decision: 'allow' },
  login_started: {
    message: 'there is no good session, so the user is sent to the provider',
    decision: 'block',
  },
  login_needed: { message: 'there is no good session, and the client takes no page', decision: 'block' },
  logged_in: { message: 'the provider vouches for the user, and a session begins', decision: 'block' },
  logged_out: { message: 'the user has logged out', decision: 'block' },
  callback_refused: {
    message: 'the callback is not that of a login begun by this browser',
    decision: 'block',
  },
  denied: { message: 'the provider has refused the login', decision: 'block' },
  identity_refused: { message: 'what the provider says of the user cannot be trusted', decision: 'block' },
  not_authorized: { message: 'the user is known and not one of those who are let in', decision: 'block' },
  session_too_long: {
    message: 'what the provider says of the user fits into no session cookie',
    decision: 'block',
  },
  provider_failed: { message: 'the provider cannot be asked, so nobody is let in', decision: 'block' },
  provider_logout: { message: 'the provider has ended sessions', decision: 'block' },
  answered: { message: 'a reserved path of the gate has answered', decision: 'block' },
  no_such_path: { message: 'the gate has nothing at this reserved path', decision: 'block' },
  not_run: { message: 'this gate has no provider to ask, so the request is stopped', decision: 'block' },
  cookie_set: { message: 'the session cookie is written anew', decision: 'allow' },
  cookie_kept: { message: 'the session cookie stays as it is', decision: 'allow' },
} as const satisfies Readonly<Record<string, DeclaredReason>>;

/** The sentences alone, for the action face. */
export const LOGIN_MESSAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LOGIN_REASONS).map(([reason, { message }]) => [reason, message]),
);

export type LoginReason = keyof typeof LOGIN_REASONS;

/** The reasons under the name of one module. */
export function loginReasons<T extends string>(
  type: T,
): Readonly<Record<`${T}.${LoginReason}`, DeclaredReason>> {
  const named = Object.entries(LOGIN_REASONS).map(([reason, facts]) => [`${type}.${reason}`, facts]);
  return Object.fromEntries(named) as Readonly<Record<`${T}.${LoginReason}`, DeclaredReason>>;
}
