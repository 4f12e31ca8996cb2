import { didYouMean, listed, quoted } from '../diagnostics/message_text.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';

/** How many names a message lists. */
const LISTED = 8;

/** What a wrong name may have meant: the nearest one, or a list of those that exist. */
export function nearName(name: string, names: readonly string[]): string {
  const known = [...new Set(names)];
  return (
    didYouMean(suggest(name, known)) ??
    (known.length === 0 ? 'there are none' : `there are: ${listed(known, LISTED)}`)
  );
}

/** A line for a request that no edge or no route takes; nothing for another one. */
export function lineAboutUnmatched(code: string, host: string, { edges }: EdgeConfig): string {
  const all = Object.values(edges.https);
  if (code === 'connect.unknown_name') {
    const places = [edges.tls, edges.tcp].flatMap((kind) =>
      Object.values(kind).flatMap(({ hostports }) => hostports),
    );
    return `no TLS or TCP edge is at ${quoted(host)}; ${nearName(host, places)}\n`;
  }
  const hosts = all.flatMap(({ hostports }) => hostports.map((hostport) => hostport.replace(/:\d+$/, '')));
  if (code === 'route.unknown_host') {
    // `dev` also serves a host below `localhost`, which browsers look up nowhere.
    const served = host.replace(/\.localhost$/, '');
    const near = hosts.includes(served) ? didYouMean(served) : nearName(host, hosts);
    return `no edge has the host ${quoted(host)}; ${near}\n`;
  }
  if (code !== 'route.no_match') return '';
  const own = all.filter(({ hostports }) =>
    hostports.some((hostport) => hostport.replace(/:\d+$/, '') === host),
  );
  const matches = (own.length > 0 ? own : all).flatMap(({ routes }) => routes.map(({ match }) => match));
  return `no route takes this path; ${nearName('', matches)}\n`;
}
