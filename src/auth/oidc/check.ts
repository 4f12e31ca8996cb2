import type { Report, Sound } from '../../diagnostics/report.ts';
import type { ActionPlace } from '../../filters/fact_values.ts';
import { checkCookieDomain } from '../cookie_domain_check.ts';
import type { OpenidConnectConfig } from './action_schema.ts';

/** Checks the cookie domain and the issuer: the discovery document is below the issuer (OpenID Connect Discovery 1.0 §3 and §4). */
export function checkAction(
  config: Sound<OpenidConnectConfig>,
  report: Report<number>,
  place: ActionPlace,
): void {
  checkCookieDomain(config, report, place);
  const issuer = config.issuer_url;
  if (issuer === undefined || issuer.includes('${')) return;
  const at = issuer.search(/[?#]/);
  if (at === -1) return;
  const what = issuer[at] === '?' ? 'query' : 'fragment';
  const message = `an issuer must not have a ${what}, because the discovery URL is derived from it`;
  report(2227, '/issuer_url', message, {
    within: { span: { start: at, end: issuer.length }, decoded: issuer },
    hint: `write ${issuer.slice(0, at)}`,
  });
}
