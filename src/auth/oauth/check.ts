import type { Report, Sound } from '../../diagnostics/report.ts';
import { listed } from '../../diagnostics/message_text.ts';
import { isFilled, needsBoth } from '../../filters/field_checks.ts';
import type { ActionPlace } from '../../filters/fact_values.ts';
import { checkCookieDomain } from '../cookie_domain_check.ts';
import type { OauthConfig as ActionConfig } from './action_schema.ts';
import type { OauthConfig } from './module_schema.ts';

/** Providers for which the service has no managed OAuth app. */
const WITHOUT_MANAGED_APP: ReadonlySet<string> = new Set(['amazon', 'facebook']);

export const findings = {
  'edge.oauth_provider': {
    cure: ['`provider: { google: {}, github: {} }`', 'Keep one provider'],
    message: 'An oauth module has exactly one provider.',
    number: 7033,
  },
  'edge.oauth_app': {
    cure: ['`client_id` without `client_secret`', 'Write both, or neither'],
    message: 'Your own OAuth app requires client_id and client_secret; scopes require your own app.',
    number: 7034,
  },
} as const;

/** Checks that there is one provider, with a complete app or none. */
export function checkModule(
  { provider: providers }: Sound<OauthConfig>,
  report: Report<keyof typeof findings>,
): void {
  if (providers === undefined) return;
  const names = Object.keys(providers) as (keyof typeof providers)[];
  if (names.length !== 1) {
    const found = names.length === 0 ? 'there is none' : `there are ${listed(names)}`;
    report('edge.oauth_provider', '/provider', `exactly one provider is needed; ${found}`, { at: 'key' });
  }
  for (const name of names) {
    const app = providers[name];
    if (app === undefined) continue;
    const hasId = 'client_id' in app;
    const hasSecret = 'client_secret' in app;
    const at = `/provider/${name}`;
    if (hasId !== hasSecret) {
      const [present, absent] = hasId ? ['client_id', 'client_secret'] : ['client_secret', 'client_id'];
      report('edge.oauth_app', `${at}/${present}`, `'${present}' requires '${absent}'`, { at: 'key' });
    } else if (!hasId && WITHOUT_MANAGED_APP.has(name)) {
      const message = `'${name}' requires your own OAuth app: set client_id and client_secret`;
      report('edge.oauth_app', at, message, { at: 'key' });
    } else if (!hasId && (app.scopes?.length ?? 0) > 0) {
      const message = "'scopes' require your own OAuth app: set client_id and client_secret";
      report('edge.oauth_app', `${at}/scopes`, message, { at: 'key' });
    }
  }
}

/** Checks that an app is complete, and present where it is required. */
export function checkAction(config: Sound<ActionConfig>, report: Report<number>, place: ActionPlace): void {
  checkCookieDomain(config, report, place);
  needsBoth(config, report, 'client_id', 'client_secret');
  if (Object.hasOwn(config, 'client_id') || Object.hasOwn(config, 'client_secret')) return;
  const provider = String(config.provider);
  const hint = 'add client_id and client_secret';
  if (WITHOUT_MANAGED_APP.has(provider)) {
    const message = `'${provider}' has no managed app: 'client_id' and 'client_secret' are required`;
    report(2240, '/provider', message, { hint });
  } else if (isFilled(config.scopes)) {
    const message = "'scopes' needs 'client_id' and 'client_secret': the managed app has fixed scopes";
    report(2240, '/scopes', message, { at: 'key', hint });
  }
}
