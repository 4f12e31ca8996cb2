import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted } from '../../document/words.ts';
import { parseAuthority } from '../../http/host.ts';
import type { Report } from './findings.ts';
import type { ReadRule } from './lint.ts';
import type { PolicyText } from './policy_text.ts';
import { replaceWithin } from './repairs.ts';
import type { PolicySetting } from './setting.ts';
import { listed } from './words.ts';

/** The authority of a URL, where no template can be part of it. */
const LITERAL_AUTHORITY = /^\s*https?:\/\/([^/?#$]+)(?=[/?#]|\s*$)/i;

/** Tells of endpoints that forward-internal names and the configuration does not have. */
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
    // Hosts without `.internal` are told by the kind of the field.
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
        ? 'no HTTPS edge here has a host that ends in .internal'
        : `internal endpoints: ${listed(internalHosts)}`;
    report('policy.unknown_endpoint', pointer, `there is no internal endpoint ${quoted(host)}`, {
      within: { span, decoded: url },
      hint: didYouMean(meant),
      notes: [known],
      fix:
        meant === undefined
          ? undefined
          : replaceWithin(policy, pointer, url, span, { says: `write ${meant}`, text: meant, safe: false }),
    });
  }
}

/** What names of internal endpoints differ in. */
function nameOf(host: string): string {
  return host.slice(0, -'.internal'.length);
}
