import { upgradeOf } from '../http/forwarding.ts';
import { formatTarget } from '../http/target.ts';
import type { Leaf, UpstreamRequest } from './contract.ts';
import { applyHeaderEdits } from './edits.ts';
import type { Exchange } from './exchange.ts';

/** The head for the upstream is made when a driver looks at it: whoever only decides does not pay for it. */
export class ForwardQuestion {
  readonly ask = 'forward';
  private readonly exchange: Exchange;
  private readonly leaf: Extract<Leaf, { kind: 'static' }>;
  private made: UpstreamRequest | null = null;

  constructor(exchange: Exchange, leaf: Extract<Leaf, { kind: 'static' }>) {
    this.exchange = exchange;
    this.leaf = leaf;
  }

  get request(): UpstreamRequest {
    return (this.made ??= upstreamRequest(this.exchange, this.leaf));
  }
}

/** The head that goes to the upstream: the client's, made fit for the next hop, then the edits in order. */
export function upstreamRequest(
  exchange: Exchange,
  leaf: Extract<Leaf, { kind: 'static' }>,
): UpstreamRequest {
  const { request, connection, configuration, converts } = exchange;
  const { naming } = configuration;
  const base = naming.forward(request.headers, request.authority, request.scheme, connection.client.text);
  return {
    leaf,
    method: request.method,
    target: formatTarget(request.path, request.query),
    headers: applyHeaderEdits(base, exchange.edits, 'request'),
    body: exchange.requestBody,
    upgrade: upgradeOf(request.headers),
    ...(converts !== null && { converts }),
  };
}
