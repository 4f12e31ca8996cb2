import { oidcProvider } from './provider.ts';
import type { ActionKind } from '../../filters/action.ts';
import { type LoginKind, loginAction } from '../action_login.ts';
import { replacement } from '../policy_logins.ts';

/** Requires a login at an OpenID provider; later expressions can restrict the users. */
export const openidConnect: ActionKind<'openid-connect'> = {
  type: 'openid-connect',
  compile: ({ config }, compiling) => {
    const credentials = [
      compiling.template(config.issuer_url, '/issuer_url'),
      compiling.template(config.client_id, '/client_id'),
      compiling.template(config.client_secret, '/client_secret'),
    ];
    const kind: LoginKind = {
      type: 'openid-connect',
      result: 'oidc',
      credentials,
      provider: ([named = '', clientId = '', clientSecret = ''], logins) => {
        const issuer = replacement(logins) ?? named;
        if (!/^https?:\/\/[^\s?#]+$/.test(issuer))
          return { missing: 'The issuer of this login is not a URL' };
        const { scopes, authz_url_params: parameters } = config;
        const provider = oidcProvider({ issuer, clientId, clientSecret, scopes, parameters });
        return { provider, givesTokens: true };
      },
    };
    return loginAction(kind, config, compiling);
  },
};
