import { createAddresses } from './addresses.ts';
import { addressOf } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import type { Leaf } from './dial.ts';
import { Http2Attempt, type Http2Limits } from './http2_attempt.ts';
import { SessionPool } from './http2_sessions.ts';
import type { KeepingClient } from './port.ts';
import type { UpstreamLimits } from './upstream_limits.ts';

/**
 * The upstream client for backends that speak HTTP/2: over TLS by ALPN, else with prior knowledge. Sessions are kept
 * for each upstream, replaced when it says goodbye, and opened beside each other when all of their streams are taken.
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
  const poolOf = (leaf: Leaf): SessionPool => {
    const key = addressOf(leaf);
    let pool = pools.get(key);
    if (pool === undefined) pools.set(key, (pool = new SessionPool(leaf, { ...limits, lookup })));
    if (wanted?.has(key) === false) pool.retire();
    return pool;
  };
  return {
    forward(request, body, options, taker) {
      const attempt = new Http2Attempt(poolOf(request.leaf), request, body, options, taker, exchange);
      attempt.start();
      return attempt;
    },
    keepOnly: (leaves) => {
      wanted = new Set(leaves.filter(({ http2 }) => http2 === true).map(addressOf));
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
