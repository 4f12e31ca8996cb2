import { oidcProvider } from '../../../mechanisms/login/oidc/provider.ts';
import type { ActionKind } from '../../action.ts';
import { LOGIN_SAYS, type LoginKind, loginAction } from '../../login.ts';

/** Lets in users who log in at an OpenID provider; who of them is for the expressions after it to say. */
export const openidConnect: ActionKind<'openid-connect'> = {
  type: 'openid-connect',
  says: LOGIN_SAYS,
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
      provider: ([issuer = '', clientId = '', clientSecret = '']) => {
        if (!/^https?:\/\/[^\s?#]+$/.test(issuer)) return { missing: 'The issuer of this login is no URL' };
        const { scopes, authz_url_params: parameters } = config;
        const provider = oidcProvider({ issuer, clientId, clientSecret, scopes, parameters });
        return { provider, givesTokens: true };
      },
    };
    return loginAction(kind, config, compiling);
  },
};
