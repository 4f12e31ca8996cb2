import { BOOL, STRING } from '../cel/types.ts';
import { durationMs } from '../filters/duration.ts';
import type { GatePaths, LoginProvider, LoginTimes, ProviderSetting } from '../filters/fact_values.ts';
import { error } from '../filters/result_types.ts';
import { GATE_PATHS } from './gate_paths.ts';
import { LOGIN_MESSAGES } from './reasons.ts';

/** A logout or a used state that one node knows alone would remain valid at the others. */
const LOGIN_STATE = 'sessions, logouts and states that are used once';

const SECOND_MS = 1_000;

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

/** Members of OAuth apps. */
export const APP_SETTINGS = { client_id: 'app', client_secret: 'app' } as const satisfies Record<
  string,
  ProviderSetting
>;

/** An OAuth provider with the app of a client id; without one, with the app of the service. */
export function oauthProvider(provider: string, clientId: unknown): LoginProvider {
  const isManaged = typeof clientId !== 'string';
  const app = isManaged ? 'app of the service' : `app ${clientId}`;
  return { name: `${provider}, ${app}`, isManaged, signsRequests: false };
}

/** Reasons of a login gate that no case has. */
export function notInCasesOfLogin(code: string): string | null {
  return code === 'not_run' ? 'cases use the development provider instead of the real one' : null;
}

/** The paths of a gate: what starts its login, what all gates have, and those of its protocol. */
export function gatePaths(
  face: 'module' | 'action',
  { ofBrowsers = [GATE_PATHS.callback], ofProviders = [] }: Partial<GatePaths> = {},
): GatePaths {
  const common = [GATE_PATHS[`${face}Login`], GATE_PATHS.logout, GATE_PATHS.signedOut];
  return { ofBrowsers: [...common, ...ofBrowsers], ofProviders };
}

const LOGIN_FACE = {
  login: true,
  reads: ['session', 'clock', 'chance', 'state'],
  sharedState: LOGIN_STATE,
  notInCases: notInCasesOfLogin,
} as const;

/** What the modules of all login protocols have in common. */
export const LOGIN_MODULE = {
  ...LOGIN_FACE,
  exempts: {
    which: ({ options_passthrough: passes }: { readonly options_passthrough: boolean }) =>
      passes ? 'options' : null,
    reason: 'options_passed',
  },
  place: 'route',
  edgeKinds: ['https'],
  ends: 'may',
  costNs: 6000,
  keepsSessionMs: (config: ModuleSession) => longestAccess(timesOfModule(config)),
  sessionTimes: timesOfModule,
  gatePaths: gatePaths('module'),
} as const;

/** What the actions of all login protocols have in common. An unreachable provider does not occur in cases. */
export const LOGIN_ACTION = {
  ...LOGIN_FACE,
  phases: ['on_http_request'],
  exempts: {
    // SAML has no such option.
    which: (config: object) =>
      'allow_cors_preflight' in config && config.allow_cors_preflight === true ? 'preflight' : null,
    reason: 'options_passed',
  },
  ends: { when: 'may', how: ['replied', 'denied', 'redirected'] },
  leavesRequest: false,
  guards: true,
  costNs: 80,
  keepsSessionMs: (config: object) => longestAccess(timesOfAction(config)),
  sessionTimes: timesOfAction,
  gatePaths: gatePaths('action'),
  reasons: LOGIN_MESSAGES,
} as const;

/** The members of login modules about their sessions, in seconds; 0 is never. */
export interface ModuleSession {
  readonly maximum_duration: number;
  readonly inactivity_timeout: number;
  /** Only OAuth has it. */
  readonly auth_check_interval?: number;
}

function timesOfModule(config: ModuleSession): LoginTimes {
  const { maximum_duration: most, inactivity_timeout: idle, auth_check_interval: check = 0 } = config;
  return {
    mostMs: most * SECOND_MS,
    within: [
      { kind: 'idle', at: '/inactivity_timeout', ms: idle * SECOND_MS },
      { kind: 'check', at: '/auth_check_interval', ms: check * SECOND_MS },
    ],
  };
}

/** The members of login actions about their sessions; those of SAML have none. */
interface ActionSession {
  readonly max_session_duration?: string | number;
  readonly idle_session_duration?: string | number;
  readonly userinfo_refresh_interval?: string | number;
}

function timesOfAction(config: object): LoginTimes {
  const session = config as ActionSession;
  return {
    mostMs: msOf(session.max_session_duration),
    within: [
      { kind: 'idle', at: '/idle_session_duration', ms: msOf(session.idle_session_duration) },
      { kind: 'check', at: '/userinfo_refresh_interval', ms: msOf(session.userinfo_refresh_interval) },
    ],
  };
}

function msOf(duration: string | number | undefined): number {
  return duration === undefined ? 0 : (durationMs(duration) ?? 0);
}

/** A session ends after its maximum duration, or when a check of the user fails because the provider has revoked it. */
function longestAccess({ mostMs, within }: LoginTimes): number {
  const checks = within.filter(({ kind }) => kind === 'check').map(({ ms }) => ms);
  return Math.min(Infinity, ...[mostMs, ...checks].filter((ms) => ms > 0));
}
