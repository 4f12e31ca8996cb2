import { BOOL, STRING } from '../cel/types.ts';
import { error } from '../filters/result_types.ts';

/** How login actions end their phase. That no provider can be asked does not happen in cases. */
export const LOGIN_ENDS = { when: 'may', how: ['replied', 'denied', 'redirected'] } as const;

/** A logout or a used state that only one process knows would still count at the others. */
export const LOGIN_STATE = 'sessions, logouts and states that are used once';

/** Members of all login results. */
export const LOGIN = {
  access_token: [STRING, 'Access token.', 'optional'],
  refresh_token: [STRING, 'Refresh token.', 'optional'],
  expires_at: [STRING, 'When the session ends without further requests, as RFC 3339; empty if never.'],
  session_timed_out: [BOOL, 'Whether the session exceeded its idle timeout.'],
  session_max_duration_reached: [BOOL, 'Whether the session reached its maximum duration.'],
  userinfo_refreshed: [BOOL, 'Whether the identity was read again.'],
  user_info_refreshed: [BOOL, 'The same: both spellings are in use.'],
  error,
} as const;

export const IDENTITY = {
  id: [STRING, 'Identifier of the identity.'],
  email: [STRING, 'E-mail address.', 'optional'],
  name: [STRING, 'Name.', 'optional'],
  provider_user_id: [STRING, 'Identifier at the provider.', 'optional'],
} as const;

/** Identities of cases have short names and tokens; only some 18,000 characters overflow a session cookie. */
const NO_LONG_SESSION =
  'only a user with a name, an address or tokens of thousands of characters is too long';

/** What a login gate of the module face cannot do, besides what follows from its protocol. */
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

/** What a login action cannot do. */
export function cannotLogInAction(code: string): string | null {
  if (code === 'session_too_long') return NO_LONG_SESSION;
  return code === 'not_run' ? 'cases use the development provider instead of the real one' : null;
}
