import type { Forwarding, KeepingClient } from './port.ts';
import type { UpstreamLimits } from './upstream_limits.ts';

/** HTTP/2 to backends that say so: loaded with the first request to one, for what Node has for it takes 14 MB. */
export function lateHttp2Upstream(limits: UpstreamLimits): KeepingClient {
  let client: KeepingClient | null = null;
  /** What was said of upstreams before it was loaded. */
  let wanted: Parameters<KeepingClient['keepOnly']>[0] | null = null;
  let loading: Promise<KeepingClient> | null = null;
  const load = async (): Promise<KeepingClient> => {
    const { createHttp2Upstream } = await import('./http2_upstream.ts');
    client = createHttp2Upstream(limits);
    if (wanted !== null) client.keepOnly(wanted);
    return client;
  };
  return {
    forward(request, body, options, taker) {
      if (client !== null) return client.forward(request, body, options, taker);
      let isCancelled = false;
      let forwarding: Forwarding | null = null;
      const begin = async (): Promise<void> => {
        try {
          const loaded = await (loading ??= load());
          if (!isCancelled) forwarding = loaded.forward(request, body, options, taker);
        } catch (error) {
          if (!isCancelled) taker.failed('invalid', `HTTP/2 cannot be spoken here: ${String(error)}`);
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
    keepOnly(leaves) {
      wanted = leaves;
      client?.keepOnly(leaves);
    },
    close: async () => (await loading)?.close(),
  };
}
