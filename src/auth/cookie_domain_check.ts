import { domainToUnicode } from 'node:url';
import { quoted } from '../diagnostics/message_text.ts';
import type { Report } from '../diagnostics/report.ts';
import type { ActionPlace } from '../filters/fact_values.ts';

/** Browsers accept a cookie for a domain only from a host below it (RFC 6265 §5.3). */
export function checkCookieDomain(
  { auth_cookie_domain: written }: { readonly auth_cookie_domain?: string | undefined },
  report: Report<number>,
  { hosts = [] }: ActionPlace,
): void {
  if (written === undefined) return;
  const at = '/auth_cookie_domain';
  const domain = written.replace(/^\./, '').toLowerCase();
  const labels = domainToUnicode(domain).split('.');
  if (labels.some((label) => label.startsWith('xn--'))) {
    const message = `${quoted(written)} has a label that is not Punycode (RFC 3492)`;
    report(2242, at, message, { hint: 'such as xn--bcher-kva for bücher' });
    return;
  }
  const isBelow = (host: string): boolean => host === domain || host.endsWith(`.${domain}`);
  const stranger = hosts.find((host) => !isBelow(host.replace(/^\*\./, '')));
  if (stranger === undefined) return;
  const message = `${quoted(stranger)} is not below ${quoted(domain)}: browsers refuse the cookie`;
  report(2241, at, message, { hint: `omit it, or write ${stranger}` });
}
