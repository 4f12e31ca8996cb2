import { MANAGED_APP, oauthProvider } from './provider.ts';
import type { ActionKind } from '../../filters/action.ts';
import { type LoginKind, loginAction } from '../action_login.ts';
import { replacement } from '../policy_logins.ts';

const NO_CRITERIA = { emailAddresses: [], emailDomains: [], teams: [], organizations: [] };

/** Requires a login at an OAuth provider; later expressions can restrict the users. */
export const oauth: ActionKind<'oauth'> = {
  type: 'oauth',
  compile: ({ config }, compiling) => {
    const { client_id: id, client_secret: secret, provider: name, scopes } = config;
    const isOwn = id !== undefined && secret !== undefined;
    const credentials = isOwn
      ? [compiling.template(id, '/client_id'), compiling.template(secret, '/client_secret')]
      : [];
    const kind: LoginKind = {
      type: 'oauth',
      result: 'oauth',
      credentials,
      provider: (texts, logins) => {
        const { development } = logins;
        if (!isOwn && development === null)
          return {
            missing:
              'The managed OAuth app is only available at the service; set client_id and client_secret',
          };
        const [clientId = MANAGED_APP.id, clientSecret = MANAGED_APP.secret] = texts;
        const provider = oauthProvider({
          provider: name,
          clientId,
          clientSecret,
          scopes: isOwn ? scopes : [],
          parameters: config.authz_url_params,
          criteria: NO_CRITERIA,
          standIn: isOwn ? replacement(logins) : development,
          userAgent: compiling.context.branding.service,
        });
        return { provider, givesTokens: isOwn };
      },
    };
    return loginAction(kind, config, compiling);
  },
};
