import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, listed, quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { parseAuthority } from '../../http/host.ts';
import type { ActionPlace } from '../fact_values.ts';
import type { ForwardInternalConfig } from './action_schema.ts';

/** The scheme and the authority of a URL without templates in them. */
const LITERAL = /^\s*(https?|tls|tcp):\/\/([^/?#$]+)(?=[/?#]|\s*$)/i;
const INTERNAL = '.internal';
const TLS_PORT = 443;
/** Actions have more fields than maps of other files. */
const SHOWN_ENDPOINTS = 30;

/** Reports endpoints that the configuration does not have, or that the phase cannot forward to. */
export function checkAction(
  { url }: Sound<ForwardInternalConfig>,
  report: Report<string | number>,
  { phase, internalHosts, internalAddresses }: ActionPlace,
): void {
  const [before, scheme, authority] = LITERAL.exec(url ?? '') ?? [];
  const parsed = authority === undefined ? null : parseAuthority(authority);
  // Hosts without `.internal` are reported by the kind of the field.
  if (url === undefined || parsed?.host.endsWith(INTERNAL) !== true) return;
  const kind = scheme!.toLowerCase();
  const isOfConnections = kind === 'tls' || kind === 'tcp';
  if (isOfConnections !== (phase === 'on_tcp_connect')) {
    const [what, kinds] = isOfConnections ? ['a request', 'https or http'] : ['a connection', 'tls or tcp'];
    const message = `${what} is forwarded to an endpoint of ${kinds}, not of ${kind}`;
    return report(2204, '/url', message, { within: { span: spanOf(before!, scheme!), decoded: url } });
  }
  const { host, port = kind === 'tls' ? TLS_PORT : undefined } = parsed;
  if (kind === 'tcp' && port === undefined)
    return report(2204, '/url', `the URL of a TCP endpoint needs a port: tcp://${host}:5432`);
  const known = isOfConnections
    ? internalAddresses?.flatMap((each) => (each.startsWith(`${kind}://`) ? [each.split('://')[1]!] : []))
    : internalHosts;
  const wanted = isOfConnections ? `${host}:${port}` : host;
  if (known === undefined || known.some((each) => covers(each, wanted))) return;
  const hosts = known.map((each) => each.replace(/:\d+$/, ''));
  const start = before!.trimEnd().length - authority!.length;
  const near = suggest(nameOf(host), hosts.map(nameOf));
  const meant = near && `${near}${INTERNAL}`;
  const isOther = meant !== undefined && meant !== host;
  const family = isOfConnections ? `${kind.toUpperCase()} edge` : 'HTTPS edge';
  const note =
    known.length === 0
      ? `no ${family} has a host that ends in .internal`
      : `internal endpoints: ${listed(known, SHOWN_ENDPOINTS)}`;
  report('policy.unknown_endpoint', '/url', `unknown internal endpoint ${quoted(wanted)}`, {
    within: { span: { start, end: start + host.length }, decoded: url },
    hint: isOther ? didYouMean(meant) : undefined,
    notes: [note],
    fix: isOther ? { message: `write ${meant}`, text: meant, safe: false } : undefined,
  });
}

/** Where the scheme is. */
function spanOf(before: string, scheme: string): { readonly start: number; readonly end: number } {
  const start = before.indexOf(scheme);
  return { start, end: start + scheme.length };
}

/** Whether the host, or the address, of an endpoint is this one; wildcards cover names of any depth. */
function covers(known: string, wanted: string): boolean {
  return known === wanted || (known.startsWith('*.') && wanted.endsWith(known.slice(1)));
}

/** The part in which names of internal endpoints differ. */
function nameOf(host: string): string {
  return host.slice(0, -INTERNAL.length);
}
