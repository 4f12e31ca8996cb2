import type { Reason } from '../../engine/module.ts';

/** Everything that a gate may come to, of whatever protocol; the modules put their type before it. */
export const LOGIN_REASONS = {
  session: { says: 'the request has a good session', decision: 'allow' },
  options_passed: { says: 'OPTIONS requests pass without a login', decision: 'allow' },
  login_started: { says: 'there is no good session, so the user is sent to the provider', decision: 'block' },
  login_needed: { says: 'there is no good session, and the client takes no page', decision: 'block' },
  logged_in: { says: 'the provider vouches for the user, and a session begins', decision: 'block' },
  logged_out: { says: 'the user has logged out', decision: 'block' },
  callback_refused: { says: 'the callback is not that of a login begun by this browser', decision: 'block' },
  denied: { says: 'the provider has refused the login', decision: 'block' },
  identity_refused: { says: 'what the provider says of the user cannot be trusted', decision: 'block' },
  not_authorized: { says: 'the user is known and not one of those who are let in', decision: 'block' },
  provider_failed: { says: 'the provider cannot be asked, so nobody is let in', decision: 'block' },
  provider_logout: { says: 'the provider has ended sessions', decision: 'block' },
  answered: { says: 'a reserved path of the gate has answered', decision: 'block' },
  no_such_path: { says: 'the gate has nothing at this reserved path', decision: 'block' },
  not_run: { says: 'this gate has no provider to ask, so the request is stopped', decision: 'block' },
  cookie_set: { says: 'the session cookie is written anew', decision: 'allow' },
  cookie_kept: { says: 'the session cookie stays as it is', decision: 'allow' },
} as const satisfies Readonly<Record<string, Reason>>;

export type LoginReason = keyof typeof LOGIN_REASONS;

/** The reasons under the name of one module. */
export function loginReasons<T extends string>(type: T): Readonly<Record<`${T}.${LoginReason}`, Reason>> {
  const named = Object.entries(LOGIN_REASONS).map(([reason, facts]) => [`${type}.${reason}`, facts]);
  return Object.fromEntries(named) as Readonly<Record<`${T}.${LoginReason}`, Reason>>;
}
