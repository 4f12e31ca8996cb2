import { weakMemoize } from '../caches/weak_memoize.ts';
import { type StaticEndpoint, addressOf } from '../io/dial.ts';
import { createAddresses } from '../io/addresses.ts';
import { Deadlines } from '../io/deadlines.ts';
import type { Http2Limits, UpstreamLimits } from '../io/upstream_limits.ts';
import { Http2UpstreamRequest } from './upstream_request.ts';
import { SessionPool } from './upstream_sessions.ts';
import type { KeepingClient } from '../io/ports.ts';

/**
 * The upstream client for HTTP/2 backends: over TLS by ALPN, else with prior knowledge. Sessions are kept for
 * each upstream, replaced after GOAWAY, and added when all their streams are in use.
 */
export function createHttp2Upstream(limits: UpstreamLimits): KeepingClient {
  const { headMs, bodyIdleMs } = limits;
  const exchange: Http2Limits = {
    ...limits,
    deadlines: new Deadlines(Math.min(...[headMs, bodyIdleMs].filter((ms) => ms > 0))),
  };
  const lookup = limits.lookup ?? createAddresses();
  const pools = new Map<string, SessionPool>();
  let wanted: ReadonlySet<string> | null = null;
  // A tunnel ends its connections itself, and its pool is forgotten with it.
  const ofTunnel = weakMemoize(
    (endpoint: StaticEndpoint) => new SessionPool(endpoint, { ...limits, lookup }),
  );
  const poolOf = (endpoint: StaticEndpoint): SessionPool => {
    if (endpoint.tunnel !== undefined) return ofTunnel(endpoint);
    const key = addressOf(endpoint);
    let pool = pools.get(key);
    if (pool === undefined) pools.set(key, (pool = new SessionPool(endpoint, { ...limits, lookup })));
    if (wanted?.has(key) === false) pool.retire();
    return pool;
  };
  return {
    forward(request, body, options, taker) {
      const upstreamRequest = new Http2UpstreamRequest(
        poolOf(request.endpoint),
        request,
        body,
        options,
        taker,
        exchange,
      );
      upstreamRequest.start();
      return upstreamRequest;
    },
    keepOnly: (endpoints) => {
      wanted = new Set(endpoints.filter(({ http2 }) => http2 === true).map(addressOf));
      for (const [key, pool] of pools) {
        if (wanted.has(key)) pool.isRetired = false;
        else {
          pool.retire();
          if (!pool.isOpen) pools.delete(key);
        }
      }
    },
    close: async () => {
      await Promise.all(Array.from(pools.values(), (pool) => pool.close()));
    },
  };
}
