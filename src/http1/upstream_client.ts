import { WIRE_LIMITS } from '../http/message_limits.ts';
import { createAddresses } from '../io/addresses.ts';
import { Http1UpstreamRequest } from './upstream_request.ts';
import { Pools } from './upstream_pools.ts';
import type { DialChoices } from '../io/dial.ts';
import { Deadlines } from '../io/deadlines.ts';
import { lazyHttp2Upstream } from '../http2/lazy_upstream.ts';
import type { KeepingClient } from '../io/ports.ts';
import { type Waiting, waitingClient } from '../io/waiting.ts';
import { forwardConverted } from './websocket_converter.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from '../io/upstream_limits.ts';

export { type UpstreamLimits } from '../io/upstream_limits.ts';

interface ClientOptions extends DialChoices {
  readonly stop?: AbortSignal;
  readonly waits?: Waiting['waits'] | undefined;
}

const NEVER = new AbortController().signal;

/**
 * The upstream client for HTTP/1.1: keeps connections alive, streams content both ways and never decodes it.
 * Backends that are configured for HTTP/2 use it, except for upgrades. `stop` ends the waiting for upstreams.
 */
export function createUpstreamClient(
  given: Partial<UpstreamLimits> = {},
  { stop = NEVER, waits = () => undefined, ...choices }: ClientOptions = {},
): KeepingClient {
  const limits = { ...UPSTREAM_LIMITS, ...given };
  return waitingClient(clientWith({ ...limits, ...choices }), { waitMs: limits.waitMs, stop, waits });
}

function clientWith(limits: UpstreamLimits & DialChoices): KeepingClient {
  const times = [
    limits.connectMs,
    limits.headMs,
    limits.continueMs,
    limits.idleConnectionMs,
    limits.bodyIdleMs,
  ];
  const lookup = limits.lookup ?? createAddresses();
  const pools = new Pools({
    ...limits,
    lookup,
    wire: { ...WIRE_LIMITS, headBytes: limits.headBytes },
    deadlines: new Deadlines(Math.min(...times.filter((ms) => ms > 0))),
  });
  const http2 = lazyHttp2Upstream({ ...limits, lookup });
  return {
    forward(request, body, options, taker) {
      if (request.converts !== undefined) return forwardConverted(request, { ...limits, lookup }, taker);
      if (request.endpoint.http2 === true && request.upgrade === null)
        return http2.forward(request, body, options, taker);
      const upstreamRequest = new Http1UpstreamRequest(
        pools.of(request.endpoint),
        request,
        body,
        options,
        taker,
        limits,
      );
      upstreamRequest.start();
      return upstreamRequest;
    },
    keepOnly: (endpoints) => {
      pools.keepOnly(endpoints);
      http2.keepOnly(endpoints);
    },
    close: async () => {
      await Promise.all([pools.close(), http2.close()]);
    },
  };
}
