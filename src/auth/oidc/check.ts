import { quoted } from '../../diagnostics/message_text.ts';
import type { More, Report, Sound } from '../../diagnostics/report.ts';
import type { ActionPlace } from '../../filters/fact_values.ts';
import { plainHttp, plainHttpWarning } from '../../filters/field_checks.ts';
import { checkCookieDomain } from '../cookie_domain_check.ts';
import type { OpenidConnectConfig } from './action_schema.ts';
import type { OidcConfig } from './module_schema.ts';

export const findings = {
  'edge.discovery_url': {
    cure: [
      '`issuer: https://idp.test/.well-known/openid-configuration`',
      'Write the issuer: https://idp.test',
    ],
    severity: 'warning',
    message: 'The issuer is the URL of its discovery document, which is looked for below it.',
  },
  'edge.plain_http': {
    cure: ['`issuer: http://idp.test`', plainHttpWarning.cure[1]],
    severity: 'warning',
    message: plainHttpWarning.message,
  },
} as const;

const REFUSED = 'no login can succeed, because a provider on another machine must use https';

/** Checks the cookie domain and the issuer: the discovery document is below the issuer (OpenID Connect Discovery 1.0 §3 and §4). */
export function checkAction(
  config: Sound<OpenidConnectConfig>,
  report: Report<number | string>,
  place: ActionPlace,
): void {
  checkCookieDomain(config, report, place);
  const issuer = config.issuer_url;
  if (issuer === undefined || issuer.includes('${')) return;
  const discovery = discoveryUrl(issuer);
  if (discovery !== null) report('policy.discovery_url', '/issuer_url', ...discovery);
  const plain = plainHttp(issuer, REFUSED);
  if (plain !== null) report('policy.plain_http', '/issuer_url', ...plain);
  const at = issuer.search(/[?#]/);
  if (at === -1) return;
  const what = issuer[at] === '?' ? 'query' : 'fragment';
  const message = `an issuer must not have a ${what}, because the discovery URL is derived from it`;
  report(2227, '/issuer_url', message, {
    within: { span: { start: at, end: issuer.length }, decoded: issuer },
    hint: `write ${issuer.slice(0, at)}`,
  });
}

/** Checks the issuer of a module. */
export function checkModule({ issuer }: Sound<OidcConfig>, report: Report<keyof typeof findings>): void {
  if (issuer === undefined) return;
  const discovery = discoveryUrl(issuer);
  if (discovery !== null) report('edge.discovery_url', '/issuer', ...discovery);
  const plain = plainHttp(issuer, REFUSED);
  if (plain !== null) report('edge.plain_http', '/issuer', ...plain);
}

const DISCOVERY = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)\/?$/;

/** What to say of an issuer that is the URL of a discovery document (OpenID Connect Discovery 1.0 §4). */
function discoveryUrl(issuer: string): readonly [message: string, more: More] | null {
  const text = issuer.replace(DISCOVERY, '');
  if (text === issuer) return null;
  const message = `${quoted(issuer)} is the URL of a discovery document; the issuer is the part before it`;
  return [
    message,
    { hint: `write ${quoted(text)}`, fix: { message: `write ${quoted(text)}`, text, safe: false } },
  ];
}
