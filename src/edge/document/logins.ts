import { listed } from '../../config_file/message_text.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { routesOf } from './routes_of.ts';
import type { SoundRoute } from './routes_of.ts';

const LOGINS = ['oauth', 'oidc', 'saml'] as const;
/** Providers for which the service has no managed OAuth app. */
const WITHOUT_MANAGED_APP: ReadonlySet<string> = new Set(['facebook', 'amazon']);

/** Checks that a route has one login module, and that OAuth has one provider with a complete app or none. */
export function checkLogins(config: SoundConfig, report: Report): void {
  for (const { pointer, thing: route } of routesOf(config)) {
    const present = LOGINS.filter((login) => login in route);
    if (present.length > 1) {
      const message = `a route has at most one of ${LOGINS.join(', ')}; this one has ${present.join(' and ')}`;
      report('edge.several_logins', `${pointer}/${present[1]!}`, message, { at: 'key' });
    }
    if (route.oauth?.provider !== undefined)
      checkProviders(route.oauth.provider, `${pointer}/oauth/provider`, report);
  }
}

type Providers = NonNullable<NonNullable<SoundRoute['oauth']>['provider']>;

function checkProviders(providers: Providers, pointer: string, report: Report): void {
  const names = Object.keys(providers) as (keyof Providers)[];
  if (names.length !== 1) {
    const found = names.length === 0 ? 'there is none' : `there are ${listed(names)}`;
    report('edge.oauth_provider', pointer, `exactly one provider is needed; ${found}`, { at: 'key' });
  }
  for (const name of names) {
    const app = providers[name];
    if (app === undefined) continue;
    const hasId = 'client_id' in app;
    const hasSecret = 'client_secret' in app;
    const at = `${pointer}/${name}`;
    if (hasId !== hasSecret) {
      const [present, absent] = hasId ? ['client_id', 'client_secret'] : ['client_secret', 'client_id'];
      report('edge.oauth_app', `${at}/${present}`, `'${present}' needs '${absent}' beside it`, { at: 'key' });
    } else if (!hasId && WITHOUT_MANAGED_APP.has(name)) {
      const message = `'${name}' needs your own OAuth app: set client_id and client_secret`;
      report('edge.oauth_app', at, message, { at: 'key' });
    } else if (!hasId && (app.scopes?.length ?? 0) > 0) {
      const message = "'scopes' need your own OAuth app: set client_id and client_secret";
      report('edge.oauth_app', `${at}/scopes`, message, { at: 'key' });
    }
  }
}
