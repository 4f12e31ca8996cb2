import { BOOL, STRING } from '../cel/types.ts';
import { error } from '../filters/result_types.ts';

/** How login actions end their phase. An unreachable provider does not occur in cases. */
export const LOGIN_ENDS = { when: 'may', how: ['replied', 'denied', 'redirected'] } as const;

/** In a cluster, a logout or used state known to one process only would remain valid at the others. */
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

/** Reasons that a login module cannot have with this config, apart from those excluded by its protocol. */
export function cannotLogIn(
  reason: string,
  { options_passthrough: passesOptions }: { readonly options_passthrough: boolean },
): string | null {
  // `authenticate` lets OPTIONS requests pass for this option alone.
  return reason === 'options_passed' && !passesOptions ? '`options_passthrough` is off' : null;
}

/** Without lists of users, every identity is authorized. */
export const EVERYONE = 'every user who can log in is allowed';
/** Their providers have no `other` paths, or none that answers so. */
export const NO_OTHER_PATHS = 'login gates of this protocol have no other paths';

/** Reasons of a login gate that no case has. */
export function notInCasesOfLogin(code: string): string | null {
  return code === 'not_run' ? 'cases use the development provider instead of the real one' : null;
}

/** What the modules of all login protocols have in common. */
export const LOGIN_MODULE = {
  place: 'route',
  carriers: ['https'],
  ends: 'may',
  login: true,
  reads: ['session', 'clock', 'chance', 'state'],
  sharedState: LOGIN_STATE,
  costNs: 6000,
} as const;
