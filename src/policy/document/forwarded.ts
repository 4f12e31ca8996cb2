import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { parseAuthority } from '../../http/host.ts';
import type { Report } from './findings.ts';
import type { ReadRule } from './lint.ts';
import type { PolicyText } from './policy_text.ts';
import { replaceWithin } from './repairs.ts';
import type { PolicySetting } from './setting.ts';
import { listed } from './message_text.ts';

/** The authority of a URL without templates in it. */
const LITERAL_AUTHORITY = /^\s*https?:\/\/([^/?#$]+)(?=[/?#]|\s*$)/i;

/** Reports endpoints of forward-internal that the configuration does not have. */
export function checkForwarded(
  policy: PolicyText,
  { internalHosts }: PolicySetting,
  rules: readonly ReadRule[],
  report: Report,
): void {
  if (internalHosts === undefined) return;
  for (const action of rules.flatMap(({ read }) => read)) {
    const url = action?.config['url'];
    if (action?.facts.type !== 'forward-internal' || typeof url !== 'string') continue;
    const [before, authority] = LITERAL_AUTHORITY.exec(url) ?? [];
    const host = authority === undefined ? undefined : parseAuthority(authority)?.host;
    // Hosts without `.internal` are reported by the kind of the field.
    if (host?.endsWith('.internal') !== true || internalHosts.includes(host)) continue;
    const pointer = `${action.pointer}/config/url`;
    const end = before!.trimEnd().length;
    const span = { start: end - authority!.length, end: end - authority!.length + host.length };
    const near = suggest(
      nameOf(host),
      internalHosts.map((each) => nameOf(each)),
    );
    const meant = near && `${near}.internal`;
    const known =
      internalHosts.length === 0
        ? 'no HTTPS edge has a host that ends in .internal'
        : `internal endpoints: ${listed(internalHosts)}`;
    report('policy.unknown_endpoint', pointer, `unknown internal endpoint ${quoted(host)}`, {
      within: { span, decoded: url },
      hint: didYouMean(meant),
      notes: [known],
      fix:
        meant === undefined
          ? undefined
          : replaceWithin(policy, pointer, url, span, {
              message: `write ${meant}`,
              text: meant,
              safe: false,
            }),
    });
  }
}

/** The part in which names of internal endpoints differ. */
function nameOf(host: string): string {
  return host.slice(0, -'.internal'.length);
}
