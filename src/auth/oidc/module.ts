import type { Linked, Module } from '../../engine/module.ts';
import { oidcProvider } from './provider.ts';
import { type LoginReason, loginReasons } from '../reasons.ts';
import { type LoginLinks, gateHandler, linkedLogin } from '../module_gate.ts';
import { replacement } from '../policy_logins.ts';
import type { OidcConfig } from './module_schema.ts';

/** Requires a login at an OpenID provider. */
export const oidc: Module<OidcConfig, `oidc.${LoginReason}`> = {
  type: 'oidc',
  reasons: loginReasons('oidc'),
  compile: (config, linked: Linked & LoginLinks) => {
    const { client_id: clientId, client_secret: clientSecret, scopes } = config;
    const issuer = replacement(linkedLogin(linked)) ?? config.issuer;
    const provider = oidcProvider({ issuer, clientId, clientSecret, scopes, parameters: {} });
    return gateHandler('oidc', config, linked, provider, { givesTokens: false });
  },
};
