import { BOOL, STRING, TIMESTAMP } from '../cel/types.ts';
import { error } from '../filters/result_types.ts';

/** How login actions end their phase. An unreachable provider does not occur in cases. */
export const LOGIN_ENDS = { when: 'may', how: ['replied', 'denied', 'redirected'] } as const;

/** In a cluster, a logout or used state known to one process only would remain valid at the others. */
export const LOGIN_STATE = 'sessions, logouts and states that are used once';

/** Members of all login results. */
export const LOGIN = {
  access_token: [STRING, 'Access token.', 'optional'],
  refresh_token: [STRING, 'Refresh token.', 'optional'],
  expires_at: [TIMESTAMP, 'Expiry of the access token.', 'optional'],
  session_timed_out: [BOOL, 'Whether the session exceeded its idle timeout.'],
  session_max_duration_reached: [BOOL, 'Whether the session reached its maximum duration.'],
  userinfo_refreshed: [BOOL, 'Whether the identity was read again.'],
  error,
} as const;

export const IDENTITY = {
  id: [STRING, 'Identifier of the identity.'],
  email: [STRING, 'E-mail address.', 'optional'],
  name: [STRING, 'Name.', 'optional'],
  provider_user_id: [STRING, 'Identifier at the provider.', 'optional'],
} as const;

/**
 * Users of cases have short names and tokens; a session cookie overflows only beyond about 18,000 characters.
 */
const NO_LONG_SESSION =
  'only a user with a name, an address or tokens of thousands of characters exceeds a session cookie';

/** Reasons that a login module cannot have with this config, apart from those excluded by its protocol. */
export function cannotLogIn(
  reason: string,
  { options_passthrough: passesOptions }: { readonly options_passthrough: boolean },
): string | null {
  if (reason === 'options_passed' && !passesOptions) return '`options_passthrough` is off';
  if (reason === 'session_too_long') return NO_LONG_SESSION;
  return reason === 'not_run'
    ? 'cases use the development provider instead of the managed app of the service'
    : null;
}

export const EVERYONE = 'every user who can log in is allowed';
export const NO_OTHER_PATHS = 'login gates of this protocol have no other paths';

/** Reasons that a login action cannot have. */
export function cannotLogInAction(code: string): string | null {
  if (code === 'session_too_long') return NO_LONG_SESSION;
  return code === 'not_run' ? 'cases use the development provider instead of the real one' : null;
}
