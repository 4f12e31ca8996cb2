import {
  EVERYONE,
  LOGIN_ACTION,
  LOGIN_MODULE,
  cannotLogIn,
  gatePaths,
  notInCasesOfLogin,
} from '../login_facts.ts';
import { SAML_PATHS } from './addresses.ts';
import { loginReasons } from '../reasons.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { LoginProvider } from '../../filters/fact_values.ts';
import type { Filter } from '../../filters/facts.ts';
import { plainHttpWarning } from '../../filters/field_checks.ts';
import type { SamlConfig } from './module_schema.ts';
import type { SamlConfig as ActionConfig } from './action_schema.ts';

const PATHS = { ofBrowsers: [SAML_PATHS.metadata, SAML_PATHS.acs], ofProviders: [SAML_PATHS.slo] };

export const saml = {
  module: {
    type: 'saml',
    ...LOGIN_MODULE,
    gatePaths: gatePaths('module', PATHS),
    provider: ({ idp_metadata: metadata }) => providerOf(metadata),
    admits: ({ authorized_groups: groups }) => ({ groups }),
    providerSettings: { idp_metadata: 'saml_metadata' },
    cannotHappen: (code, config) =>
      code === 'not_authorized' && config.authorized_groups.length === 0
        ? EVERYONE
        : cannotLogIn(code, config),
    // A session is renewed for its idle timeout, or if the authorized groups have changed since the login.
    notInCases: (code, config) =>
      code === 'cookie_set' && config.inactivity_timeout === 0
        ? 'a session of a case never changes without an idle timeout'
        : notInCasesOfLogin(code),
    emptyIsUnset: ['/nameid_format'],
    unseen: ['/idp_metadata'],
    check: checkModule,
    findings,
    reasons: loginReasons('saml'),
    examples: {
      // Metadata with a certificate is too long for an example.
      good: [],
      bad: [{ config: { idp_metadata: '<EntityDescriptor/>' }, finding: 'edge.saml_metadata' }],
    },
  },
  action: {
    type: 'saml',
    ...LOGIN_ACTION,
    gatePaths: gatePaths('action', PATHS),
    provider: ({ idp_metadata: metadata, idp_metadata_url: url }) => providerOf(metadata, url),
    providerSettings: { idp_metadata: 'saml_metadata', idp_metadata_url: 'saml_metadata_url' },
    result: { name: 'saml' },
    unseen: ['/idp_metadata'],
    warnings: { 'policy.plain_http': plainHttpWarning },
    check: checkAction,
    examples: {
      good: [{ idp_metadata_url: 'https://login.test/metadata' }],
      bad: [{ config: {}, finding: 2234 }],
    },
  },
} satisfies Filter<SamlConfig, ActionConfig>;

/** The provider by the URL of its metadata, or else by the id in them. */
function providerOf(metadata: unknown, url?: unknown): LoginProvider {
  const id = /\bentityID\s*=\s*["']([^"']+)["']/.exec(String(metadata))?.[1] ?? 'its metadata';
  return { name: typeof url === 'string' ? url : id, isManaged: false, signsRequests: true };
}
