import { WIRE_LIMITS } from '../wire/limits.ts';
import { createAddresses } from './addresses.ts';
import { Attempt } from './attempt.ts';
import { Pools } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { lateHttp2Upstream } from './late_http2.ts';
import type { KeepingClient } from './port.ts';
import { forwardConverted } from './websocket_converter.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from './upstream_limits.ts';

export { UPSTREAM_LIMITS, type UpstreamLimits } from './upstream_limits.ts';

/**
 * The upstream client on our own wire: HTTP/1.1, kept connections, content streamed both ways and never decoded.
 * Backends that say so are spoken to in HTTP/2, but for requests that change the protocol of their connection.
 */
export function createUpstreamClient(given: Partial<UpstreamLimits> = {}): KeepingClient {
  const limits = { ...UPSTREAM_LIMITS, ...given };
  const times = [
    limits.connectMs,
    limits.headMs,
    limits.continueMs,
    limits.idleConnectionMs,
    limits.bodyIdleMs,
  ];
  const pools = new Pools({
    ...limits,
    lookup: limits.lookup ?? createAddresses(),
    wire: { ...WIRE_LIMITS, headBytes: limits.headBytes },
    deadlines: new Deadlines(Math.min(...times.filter((ms) => ms > 0))),
  });
  const http2 = lateHttp2Upstream(limits);
  return {
    forward(request, body, options, taker) {
      if (request.converts !== undefined) return forwardConverted(request, limits, taker);
      if (request.leaf.http2 === true && request.upgrade === null)
        return http2.forward(request, body, options, taker);
      const attempt = new Attempt(pools.of(request.leaf), request, body, options, taker, limits);
      attempt.start();
      return attempt;
    },
    keepOnly: (leaves) => {
      pools.keepOnly(leaves);
      http2.keepOnly(leaves);
    },
    close: async () => {
      await Promise.all([pools.close(), http2.close()]);
    },
  };
}
