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
  gatePaths,
} from '../login_facts.ts';
import { GATE_PATHS } from '../gate_paths.ts';
import { loginReasons } from '../reasons.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { LoginProvider } from '../../filters/fact_values.ts';
import type { Filter } from '../../filters/facts.ts';
import { plainHttpWarning } from '../../filters/field_checks.ts';
import type { OidcConfig } from './module_schema.ts';
import type { OpenidConnectConfig } from './action_schema.ts';

const PATHS = { ofProviders: [GATE_PATHS.backchannelLogout] };

export const oidc = {
  module: {
    type: 'oidc',
    ...LOGIN_MODULE,
    gatePaths: gatePaths('module', PATHS),
    provider: ({ issuer }) => providerOf(issuer),
    providerSettings: { ...APP_SETTINGS, issuer: 'issuer' },
    secrets: ['/client_secret'],
    unseen: ['/issuer', '/client_id', '/client_secret'],
    cannotHappen: (code, config) => cannotAtProvider(code) ?? cannotLogIn(code, config),
    check: checkModule,
    findings,
    reasons: loginReasons('oidc'),
    examples: {
      good: [{ issuer: 'https://login.test', client_id: 'shop', client_secret: 'of the shop' }],
      bad: [
        {
          config: { issuer: 'login.test', client_id: 'shop', client_secret: 'of the shop' },
          finding: 'edge.bad_form',
        },
      ],
    },
  },
  action: {
    type: 'openid-connect',
    ...LOGIN_ACTION,
    gatePaths: gatePaths('action', PATHS),
    provider: ({ issuer_url: url }) => providerOf(url),
    providerSettings: { ...APP_SETTINGS, issuer_url: 'issuer' },
    result: resultOf('oidc', 'The login of the visitor.', {
      identity: [
        record('OidcIdentity', { ...IDENTITY, current_session_id: [STRING, 'Session.', 'optional'] }),
        'The logged-in user.',
        'optional',
      ],
      identity_token: [STRING, 'Identity token.', 'optional'],
      ...LOGIN,
    }),
    secrets: ['/client_secret'],
    unseen: ['/issuer_url', '/client_id', '/client_secret', '/auth_id'],
    legacyTypes: ['oidc'],
    cannotHappen: cannotAtProvider,
    warnings: {
      'policy.plain_http': plainHttpWarning,
      'policy.discovery_url': {
        message: 'The issuer is the URL of its discovery document, which is looked for below it.',
        cure: [
          '`issuer: https://idp.test/.well-known/openid-configuration`',
          'Write the issuer: https://idp.test',
        ],
      },
    },
    check: checkAction,
    examples: {
      good: [
        {
          issuer_url: 'https://login.test',
          client_id: 'shop',
          client_secret: "${secrets.get('shop', 'client')}",
        },
      ],
      bad: [
        {
          config: {
            issuer_url: 'login.test',
            client_id: 'shop',
            client_secret: "${secrets.get('shop', 'client')}",
          },
          finding: 2226,
        },
      ],
    },
  },
} satisfies Filter<OidcConfig, OpenidConnectConfig>;

/** The only other path ends sessions, and no config lists users. */
function cannotAtProvider(code: string): string | null {
  if (code === 'answered') return NO_OTHER_PATHS;
  return code === 'not_authorized' ? EVERYONE : null;
}

function providerOf(issuer: string): LoginProvider {
  return { name: issuer, isManaged: false, signsRequests: false };
}
