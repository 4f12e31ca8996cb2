import { STRING } from '../../cel/types.ts';
import { record, resultOf } from '../../filters/result_types.ts';
import {
  EVERYONE,
  IDENTITY,
  LOGIN,
  LOGIN_ENDS,
  LOGIN_MODULE,
  LOGIN_STATE,
  NO_OTHER_PATHS,
  cannotLogIn,
  notInCasesOfLogin,
} from '../login_facts.ts';
import { LOGIN_MESSAGES, loginReasons } from '../reasons.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { Filter } from '../../filters/facts.ts';
import type { OauthConfig } from './module_schema.ts';
import type { OauthConfig as ActionConfig } from './action_schema.ts';

export const oauth = {
  module: {
    type: 'oauth',
    ...LOGIN_MODULE,
    secrets: ['/provider/*/client_secret'],
    notInCases: notInCasesOfLogin,
    // The provider has no `other` paths, and `authorize` without lists authorizes every user.
    cannotHappen: (code, config) => {
      if (code === 'provider_logout') return 'OAuth providers cannot end sessions';
      if (code === 'answered') return NO_OTHER_PATHS;
      if (code === 'not_authorized' && !isRestricted(config)) return EVERYONE;
      return cannotLogIn(code, config);
    },
    check: checkModule,
    findings,
    reasons: loginReasons('oauth'),
    examples: {
      good: [{ provider: { github: { organizations: ['acme'] } } }],
      bad: [{ config: { provider: {} }, finding: 'edge.oauth_provider' }],
    },
  },
  action: {
    type: 'oauth',
    phases: ['on_http_request'],
    ends: LOGIN_ENDS,
    result: resultOf('oauth', 'The login of the visitor.', {
      identity: [
        record('OauthIdentity', {
          ...IDENTITY,
          current_provider_session_id: [STRING, 'Session at the provider.', 'optional'],
        }),
        'The logged-in user.',
        'optional',
      ],
      ...LOGIN,
    }),
    leavesRequest: false,
    guards: true,
    login: true,
    secrets: ['/client_secret'],
    notInCases: notInCasesOfLogin,
    cannotHappen: (code) => (code === 'answered' ? NO_OTHER_PATHS : null),
    reads: ['session', 'clock', 'chance', 'state'],
    sharedState: LOGIN_STATE,
    costNs: 80,
    check: checkAction,
    reasons: LOGIN_MESSAGES,
    examples: {
      good: [{ provider: 'github', client_id: 'shop', client_secret: "${secrets.get('shop', 'client')}" }],
      bad: [{ config: { provider: 'gitbub' }, finding: 2222 }],
    },
  },
} satisfies Filter<OauthConfig, ActionConfig>;

/** Whether only some users are allowed. */
function isRestricted({ provider }: OauthConfig): boolean {
  return Object.values(provider).some((app) =>
    Object.entries(app ?? {}).some(
      ([key, value]) => key !== 'scopes' && Array.isArray(value) && value.length > 0,
    ),
  );
}
