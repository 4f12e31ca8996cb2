import { STRING } from '../../cel/types.ts';
import { record, resultOf } from '../../filters/result_types.ts';
import {
  APP_SETTINGS,
  EVERYONE,
  IDENTITY,
  LOGIN,
  LOGIN_ACTION,
  LOGIN_MODULE,
  NO_OTHER_PATHS,
  cannotLogIn,
  oauthProvider,
} from '../login_facts.ts';
import { loginReasons } from '../reasons.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { Admitted } from '../../filters/fact_values.ts';
import type { Filter } from '../../filters/facts.ts';
import type { OauthConfig } from './module_schema.ts';
import type { OauthConfig as ActionConfig } from './action_schema.ts';

export const oauth = {
  module: {
    type: 'oauth',
    ...LOGIN_MODULE,
    provider: ({ provider }) => {
      const [name = '', app] = Object.entries(provider).find(([, each]) => each !== undefined) ?? [];
      return oauthProvider(name, app?.client_id);
    },
    admits: ({ provider }) => admittedBy(provider),
    providerSettings: APP_SETTINGS,
    secrets: ['/provider/*/client_secret'],
    unseen: ['/provider/*/client_id', '/provider/*/client_secret'],
    emptyIsUnset: ['/provider/*/client_id', '/provider/*/client_secret'],
    apiCodes: { below: { email_addresses: 7067, email_domains: 7068 } },
    // The provider has no `other` paths, and `authorize` without lists authorizes every user.
    cannotHappen: (code, config) => {
      if (code === 'provider_logout') return 'OAuth providers cannot end sessions';
      if (code === 'answered') return NO_OTHER_PATHS;
      if (code === 'not_authorized' && !isRestricted(config.provider)) return EVERYONE;
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
    fieldHints: Object.fromEntries(
      ['email_addresses', 'email_domains'].map((name) => [
        name,
        'test the email of its result in a rule after it',
      ]),
    ),
    ...LOGIN_ACTION,
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
    provider: ({ provider, client_id: id }) => oauthProvider(provider, id),
    providerSettings: APP_SETTINGS,
    secrets: ['/client_secret'],
    unseen: ['/client_id', '/client_secret', '/auth_id'],
    cannotHappen: (code) => (code === 'answered' ? NO_OTHER_PATHS : null),
    check: checkAction,
    examples: {
      good: [{ provider: 'github', client_id: 'shop', client_secret: "${secrets.get('shop', 'client')}" }],
      bad: [{ config: { provider: 'gitbub' }, finding: 2222 }],
    },
  },
} satisfies Filter<OauthConfig, ActionConfig>;

function admittedBy(provider: OauthConfig['provider']): Admitted {
  const { github } = provider;
  const apps = Object.values(provider).filter((app) => app !== undefined);
  return {
    emails: apps.flatMap((app) => app.email_addresses),
    emailDomains: apps.flatMap((app) => app.email_domains),
    teams: github?.teams ?? [],
    organizations: github?.organizations ?? [],
  };
}

/** Whether only some users are allowed. */
function isRestricted(provider: OauthConfig['provider']): boolean {
  return Object.values(admittedBy(provider)).some((list) => list.length > 0);
}
