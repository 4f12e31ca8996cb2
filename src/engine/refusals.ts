import { escapeHtml } from '../http/html.ts';
import type { LocalResponse } from './contract.ts';
import type { ServiceNaming } from './naming.ts';

/**
 * A response that the edge makes itself: a small page whose `<noscript>` text names the code, as services of
 * this kind send, and the code in a field of its own. `code` null is for refusals that have none.
 */
export function refusal(
  naming: ServiceNaming,
  status: number,
  code: number | null,
  message: string,
): LocalResponse {
  const text = escapeHtml(message);
  const named = code === null ? text : `${text} (${naming.errorCode(code)})`;
  const body =
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${status} ${text}</title></head>\n` +
    `<body><h1>${status}</h1><p>${named}</p><noscript>${named}</noscript></body></html>\n`;
  const headers = ['content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store'];
  if (code !== null) headers.push(naming.errorField, naming.errorCode(code));
  return { status, headers, body };
}

/** Why the engine itself, and no module, ended an exchange. The sentence is what `explain` prints. */
export const ENGINE_REASONS = {
  'route.matched': { says: 'this route is the most specific that matches', status: 0, code: null },
  'route.unknown_host': { says: 'no edge has this host', status: 404, code: 3200 },
  'route.no_match': { says: 'no route of this edge matches the path', status: 404, code: 3200 },
  'route.ambiguous_path': {
    says: 'another spelling of this path, as an upstream may read it, belongs to another route',
    status: 400,
    code: null,
  },
  'request.malformed': { says: 'the request is not valid HTTP', status: 400, code: null },
  'request.method': { says: 'this method is not for an edge', status: 405, code: null },
  'request.expectation': { says: 'the edge cannot meet this expectation', status: 417, code: null },
  'request.timeout': { says: 'the request did not arrive in time', status: 408, code: null },
  'request.too_large': { says: 'the request body is too large', status: 413, code: null },
  'request.target_too_long': { says: 'the request target is too long', status: 414, code: null },
  'request.head_too_large': { says: 'the head of the request is too large', status: 431, code: null },
  'request.not_implemented': { says: 'the edge does not know this transfer coding', status: 501, code: null },
  'request.version': { says: 'the edge does not speak this version of HTTP', status: 505, code: null },
  'backend.none': { says: 'the route has no backend', status: 503, code: 724 },
  'backend.no_weight': {
    says: 'no child of the weighted backend has a weight above zero',
    status: 503,
    code: 6515,
  },
  'upstream.answered': { says: 'the upstream answered', status: 0, code: null },
  'upstream.local': { says: 'the backend answers by itself', status: 0, code: null },
  'upstream.connect': { says: 'the upstream could not be reached', status: 502, code: 8012 },
  'upstream.timeout': { says: 'the upstream did not answer in time', status: 504, code: 3005 },
  'upstream.reset': {
    says: 'the upstream closed the connection before it answered',
    status: 502,
    code: 3006,
  },
  'upstream.invalid': { says: 'the upstream sent something that is not HTTP', status: 502, code: 3004 },
  'upstream.body_timeout': {
    says: 'the body of the request did not arrive in time',
    status: 408,
    code: null,
  },
  'upstream.body_malformed': { says: 'the body of the request is not valid HTTP', status: 400, code: null },
  'upstream.body_extensions_too_large': {
    says: 'the chunk extensions of the request are too long',
    status: 413,
    code: null,
  },
  'upstream.body_trailers_too_large': {
    says: 'the trailers of the request are too large',
    status: 431,
    code: null,
  },
  'upstream.cancelled': { says: 'the client left before the upstream answered', status: 0, code: null },
  'engine.bug': { says: 'the edge failed while deciding; the request was stopped', status: 500, code: 2300 },
} as const satisfies Record<string, { says: string; status: number; code: number | null }>;

export type EngineReason = keyof typeof ENGINE_REASONS;

/** The page that goes with an engine reason. */
export function engineRefusal(naming: ServiceNaming, reason: EngineReason, note = ''): LocalResponse {
  const { says, status, code } = ENGINE_REASONS[reason];
  return refusal(naming, status, code, note === '' ? says : `${says}: ${note}`);
}
