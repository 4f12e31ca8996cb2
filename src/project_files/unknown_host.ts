import { isInternalHost } from '../edge/document/internal_hosts.ts';
import type { Explanation, StreamExplanation } from '../edge/explain.ts';

/** Where the online agents are stated: on the command line, or in a scenario file. */
export type StatedBy = 'option' | 'scenario';

/** What to do when no edge has an address: only agents may have it. Null if an edge has it. */
export function unknownHostHint(explanation: Explanation | StreamExplanation, by: StatedBy): string | null {
  const { code, detail } = explanation.decidedBy;
  const { host, port } = detail as { readonly host?: string; readonly port?: number };
  const url = urlOf(code, explanation, `${host ?? ''}:${port ?? 0}`, host ?? '');
  if (url === null) return null;
  if (isInternalHost(host ?? '')) return `'${host}' is reached by forward-internal only, and not by clients`;
  const how = by === 'option' ? `--agent ${url}` : `agents: { laptop: { url: '${url}' } }`;
  return `if an agent binds it, say that it is online: ${how}`;
}

function urlOf(
  code: string,
  explanation: Explanation | StreamExplanation,
  address: string,
  host: string,
): string | null {
  // What no edge has is not known to be TLS or TCP.
  if (code.startsWith('connect.unknown_'))
    return address.endsWith(':443') ? `tls://${host}` : `tcp://${address}`;
  const isRequest = code === 'route.unknown_host' && 'request' in explanation;
  return isRequest ? `${new URL(explanation.request.url).protocol}//${host}` : null;
}

/** The hint as a line of text; empty without one. */
export function hintLine(hint: string | null): string {
  return hint === null ? '' : `hint: ${hint}\n`;
}
