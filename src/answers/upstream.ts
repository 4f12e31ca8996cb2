import type { Body, Forwarded, UpstreamClient } from './port.ts';
import type { UpstreamRequest } from '../engine/contract.ts';
import { attempt, type ExchangeLimits } from './attempt.ts';
import { createConnections, type DialLimits } from './connections.ts';

export interface UpstreamLimits extends DialLimits, ExchangeLimits {}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectMs: 10_000,
  headMs: 60_000,
  bodyIdleMs: 300_000,
  idleConnectionMs: 60_000,
  idleConnections: 256,
  headBytes: 1_048_576,
  verifyTls: true,
  ca: [],
};

/** RFC 9110 §9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY']);

/** The upstream client on undici: HTTP/1.1, kept connections, content streamed both ways and never decoded. */
export function createUpstreamClient(given: Partial<UpstreamLimits> = {}): UpstreamClient {
  const limits = { ...UPSTREAM_LIMITS, ...given };
  const connections = createConnections(limits);

  async function forward(request: UpstreamRequest, body: Body, gone: AbortSignal): Promise<Forwarded> {
    const first = await attempt({ request, body, gone, limits, connections, fresh: false });
    // A kept connection may have been closed while the request was on its way; a request that means the same when
    // sent twice is sent once more (RFC 9112 §9.3.1).
    if (!first.stale || body.lengthBytes !== 0 || !IDEMPOTENT.has(request.method)) return first.forwarded;
    return (await attempt({ request, body, gone, limits, connections, fresh: true })).forwarded;
  }

  return { forward, close: () => connections.close() };
}
