import { oauthProvider } from '../../../mechanisms/login/oauth/provider.ts';
import type { ActionKind } from '../../action.ts';
import { LOGIN_SAYS, type LoginKind, loginAction } from '../../login.ts';

const NO_CRITERIA = { emailAddresses: [], emailDomains: [], teams: [], organizations: [] };
/** What the development provider knows the managed app by. */
const MANAGED_APP = ['managed-app-of-the-service', 'only-for-development'] as const;

/** Lets in users who log in at an OAuth provider; who of them is for the expressions after it to say. */
export const oauth: ActionKind<'oauth'> = {
  type: 'oauth',
  says: LOGIN_SAYS,
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
      provider: (texts, { development }) => {
        if (!isOwn && development === null)
          return {
            missing: 'The managed OAuth app exists only at the service; set client_id and client_secret',
          };
        const [clientId = MANAGED_APP[0], clientSecret = MANAGED_APP[1]] = texts;
        const provider = oauthProvider({
          provider: name,
          clientId,
          clientSecret,
          scopes: isOwn ? scopes : [],
          parameters: config.authz_url_params,
          criteria: NO_CRITERIA,
          standIn: isOwn ? null : development,
          userAgent: compiling.context.naming.service,
        });
        return { provider, givesTokens: isOwn };
      },
    };
    return loginAction(kind, config, compiling);
  },
};
