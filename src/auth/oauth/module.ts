import { asciiLower } from '../../http/ascii.ts';
import type { Handler, Stop } from '../../engine/contract.ts';
import type { Linked, Module } from '../../engine/module.ts';
import { MANAGED_APP, oauthProvider } from './provider.ts';
import type { OauthProviderName } from './table.ts';
import { replacement } from '../policy_logins.ts';
import { type LoginReason, loginReasons } from '../reasons.ts';
import { type LoginLinks, gateHandler, linkedLogin } from '../module_gate.ts';
import type { OauthConfig } from './module_schema.ts';

/** Requires a login at an OAuth provider. */
export const oauth: Module<OauthConfig, `oauth.${LoginReason}`> = {
  type: 'oauth',
  reasons: loginReasons('oauth'),
  compile: (config, linked: Linked & LoginLinks) => {
    const [name, app] = chosenOf(config.provider);
    const { client_id: clientId, client_secret: clientSecret } = app;
    const isOwn = clientId !== undefined && clientSecret !== undefined;
    const login = linkedLogin(linked);
    const { development } = login;
    if (!isOwn && development === null) return noManagedApp(linked);
    const provider = oauthProvider({
      provider: name,
      clientId: isOwn ? clientId : MANAGED_APP.id,
      clientSecret: isOwn ? clientSecret : MANAGED_APP.secret,
      scopes: isOwn ? app.scopes : [],
      parameters: {},
      criteria: {
        emailAddresses: lower(app.email_addresses),
        emailDomains: lower(app.email_domains),
        teams: 'teams' in app ? lower(app.teams) : [],
        organizations: 'organizations' in app ? lower(app.organizations) : [],
      },
      standIn: isOwn ? replacement(login) : development,
      userAgent: linked.branding.service,
    });
    return gateHandler('oauth', config, linked, provider, { givesTokens: isOwn });
  },
};

function lower(list: readonly string[]): readonly string[] {
  return list.map((each) => asciiLower(each));
}

type Provider = OauthConfig['provider'];
type App = NonNullable<Provider['google']> | NonNullable<Provider['github']>;

/** The only provider of a checked config. */
function chosenOf(provider: Provider): readonly [OauthProviderName, App] {
  const chosen = Object.entries(provider).find(([, app]) => app !== undefined);
  if (chosen === undefined) throw new Error('an OAuth config without provider passed its check');
  return chosen as [OauthProviderName, App];
}

/** The managed app belongs to the service; without the development provider, every login is refused. */
function noManagedApp({ refusal }: Linked): Handler {
  const message = 'The managed OAuth app exists only at the service; set client_id and client_secret';
  const stop: Stop<`oauth.${LoginReason}`> = {
    verdict: 'stop',
    reason: { code: 'oauth.not_run', detail: { message } },
    response: refusal(501, null, message),
  };
  return { onRequest: () => stop };
}
