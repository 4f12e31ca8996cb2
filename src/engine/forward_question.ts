import { upgradeOf } from '../http/forwarding.ts';
import { formatTarget } from '../http/target.ts';
import type { ResponseHead } from './contract.ts';
import type { Endpoint, UpstreamRequest } from './questions.ts';
import { applyHeaderEdits, withoutLookAlikes } from './edits.ts';
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
  const { branding, cookies } = configuration;
  const base = branding.forward(request.headers, request.authority, request.scheme, connection.client.text);
  const fit = branding.passesUnderscores ? withoutLookAlikes(base, exchange.edits) : base;
  const edited = applyHeaderEdits(fit, exchange.edits, 'request');
  const headers = traceContext === null ? edited : withTraceContext(edited, traceContext);
  const made = {
    endpoint,
    method: request.method,
    target: formatTarget(request.path, request.query),
    headers: cookies === null ? headers : cookies.withheld(headers),
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
