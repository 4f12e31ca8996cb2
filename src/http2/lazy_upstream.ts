import { lazyLoad } from '../loading/lazy_load.ts';
import type { Forwarding, KeepingClient } from '../io/ports.ts';
import type { UpstreamLimits } from '../io/upstream_limits.ts';

/**
 * The HTTP/2 upstream client, loaded with the first request that needs it, because Node's http2 module takes
 * 14 MB.
 */
export function lazyHttp2Upstream(limits: UpstreamLimits): KeepingClient {
  /** The upstreams of the configuration, set before the client was loaded. */
  let wanted: Parameters<KeepingClient['keepOnly']>[0] | null = null;
  const late = lazyLoad(async (): Promise<KeepingClient> => {
    const { createHttp2Upstream } = await import('./upstream_client.ts');
    const client = createHttp2Upstream(limits);
    if (wanted !== null) client.keepOnly(wanted);
    return client;
  });
  return {
    forward(request, body, options, taker) {
      const client = late.now();
      if (client !== null) return client.forward(request, body, options, taker);
      let isCancelled = false;
      let forwarding: Forwarding | null = null;
      const begin = async (): Promise<void> => {
        try {
          const loaded = await late.get();
          if (!isCancelled) forwarding = loaded.forward(request, body, options, taker);
        } catch (error) {
          if (!isCancelled) taker.failed('invalid', `HTTP/2 is not available: ${String(error)}`);
        }
      };
      void begin();
      return {
        cancel() {
          isCancelled = true;
          forwarding?.cancel();
        },
      };
    },
    keepOnly(endpoints) {
      wanted = endpoints;
      late.now()?.keepOnly(endpoints);
    },
    close: async () => (await late.ifBegun())?.close(),
  };
}
