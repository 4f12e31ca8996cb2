import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, listed, quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { parseAuthority } from '../../http/host.ts';
import type { ActionPlace } from '../facts.ts';
import type { ForwardInternalConfig } from './action_schema.ts';

/** The authority of a URL without templates in it. */
const LITERAL_AUTHORITY = /^\s*https?:\/\/([^/?#$]+)(?=[/?#]|\s*$)/i;
const INTERNAL = '.internal';
/** Actions have more fields than maps of other files. */
const SHOWN_HOSTS = 30;

/** Reports endpoints that the configuration does not have. */
export function checkAction(
  { url }: Sound<ForwardInternalConfig>,
  report: Report<string>,
  { internalHosts: known }: ActionPlace,
): void {
  if (known === undefined || url === undefined) return;
  const [before, authority] = LITERAL_AUTHORITY.exec(url) ?? [];
  const host = authority === undefined ? undefined : parseAuthority(authority)?.host;
  // Hosts without `.internal` are reported by the kind of the field.
  if (host?.endsWith(INTERNAL) !== true || known.includes(host)) return;
  const start = before!.trimEnd().length - authority!.length;
  const near = suggest(nameOf(host), known.map(nameOf));
  const meant = near && `${near}${INTERNAL}`;
  const note =
    known.length === 0
      ? 'no HTTPS edge has a host that ends in .internal'
      : `internal endpoints: ${listed(known, SHOWN_HOSTS)}`;
  report('policy.unknown_endpoint', '/url', `unknown internal endpoint ${quoted(host)}`, {
    within: { span: { start, end: start + host.length }, decoded: url },
    hint: didYouMean(meant),
    notes: [note],
    fix: meant === undefined ? undefined : { message: `write ${meant}`, text: meant, safe: false },
  });
}

/** The part in which names of internal endpoints differ. */
function nameOf(host: string): string {
  return host.slice(0, -INTERNAL.length);
}
