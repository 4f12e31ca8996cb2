import { upgradeOf } from '../http/forwarding.ts';
import { targetOf } from '../http/heads.ts';
import { isRecurring, markRecurring, memoizeRecurring } from '../caches/recurring.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { Branding } from './branding.ts';
import type { Edit, ResponseHead } from './contract.ts';
import type { Endpoint, UpstreamRequest } from './questions.ts';
import { editHeaders, removedNames, withoutLookAlikes } from './edits.ts';
import { type MakeFields, forwardedByShape } from './forwarded_shapes.ts';
import { NO_EDITS } from './pipeline.ts';
import type { Exchange } from './exchange.ts';
import { withTraceContext } from './trace_context.ts';

/** The head for the upstream is built on first access, so that drivers that only decide do not pay for it. */
export class ForwardQuestion {
  readonly ask = 'forward';
  private readonly exchange: Exchange;
  private readonly endpoint: Extract<Endpoint, { kind: 'static' }>;
  private made: UpstreamRequest | null = null;

  constructor(exchange: Exchange, endpoint: Extract<Endpoint, { kind: 'static' }>) {
    this.exchange = exchange;
    this.endpoint = endpoint;
  }

  get converts(): ResponseHead | null {
    return this.exchange.converts;
  }

  get request(): UpstreamRequest {
    return (this.made ??= upstreamRequest(this.exchange, this.endpoint));
  }
}

/** The head for the upstream: the client's without hop-by-hop fields, then the edits in order. */
export function upstreamRequest(
  exchange: Exchange,
  endpoint: Extract<Endpoint, { kind: 'static' }>,
): UpstreamRequest {
  const { request, connection, configuration, converts, traceContext } = exchange;
  const { cookies } = configuration;
  const edited = forwardedFields(exchange);
  const headers = traceContext === null ? edited : withTraceContext(edited, traceContext);
  const made = {
    endpoint,
    method: request.method,
    target: targetOf(request),
    headers: cookies === null ? headers : cookies.withheld(headers),
    removed: removedFor(exchange, endpoint),
    body: exchange.requestBody,
    upgrade: upgradeOf(request.headers),
  };
  const hasNext = exchange.attempts.length + 1 < (exchange.candidates?.length ?? 0);
  if (endpoint.tunnel === undefined && converts === null && !hasNext) return made;
  return {
    ...made,
    ...(hasNext && { hasNext }),
    ...(endpoint.tunnel !== undefined && { connection }),
    ...(converts !== null && { converts }),
  };
}

/** The names that this edge, and those before it, remove from the request; HTTP/1.1 upstreams get no trailers. */
function removedFor(
  { edits, before }: Exchange,
  { http2 }: { readonly http2?: true },
): UpstreamRequest['removed'] {
  if (http2 !== true) return undefined;
  return removedNames(before === null ? edits : [...before.edits, ...edits], 'request');
}

/** The last result for a list of fields that recurs, and all that it depends on besides. */
interface LastForward {
  branding: Branding | null;
  edits: readonly Edit[];
  authority: string;
  scheme: string;
  clientIp: string;
  out: FieldList;
}

const lastOf = memoizeRecurring((): LastForward => ({
  branding: null,
  edits: NO_EDITS,
  authority: '',
  scheme: '',
  clientIp: '',
  out: NO_FIELDS,
}));

/** The fields for the upstream with the edits of handlers. Requests with the same fields share the list. */
function forwardedFields({ request, connection, configuration, edits, before }: Exchange): FieldList {
  const { headers, authority, scheme } = request;
  const { branding } = configuration;
  const clientIp = connection.client.text;
  const around = { authority, scheme, clientIp };
  // These edits are another list for each request, so no shape recurs.
  if (before !== null) return makeFields(branding, [...before.edits, ...edits], before.headers, around);
  if (!isRecurring(headers)) return madeFields(branding, edits, headers, around);
  const last = lastOf(headers);
  const isSame = last.clientIp === clientIp && last.authority === authority && last.scheme === scheme;
  if (isSame && last.branding === branding && last.edits === edits) {
    markRecurring(last.out);
    return last.out;
  }
  last.branding = branding;
  last.edits = edits;
  last.authority = authority;
  last.scheme = scheme;
  last.clientIp = clientIp;
  last.out = madeFields(branding, edits, headers, around);
  return last.out;
}

const makeFields: MakeFields = (branding, edits, headers, { authority, scheme, clientIp }) => {
  const base = branding.forward(headers, authority, scheme, clientIp);
  return editHeaders(withoutLookAlikes(base, edits), edits, 'request');
};

const madeFields = forwardedByShape(makeFields);
