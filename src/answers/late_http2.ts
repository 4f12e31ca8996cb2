import type { Forwarding, UpstreamClient } from './port.ts';
import type { UpstreamLimits } from './upstream_limits.ts';

/** HTTP/2 to backends that say so: loaded with the first request to one, for what Node has for it takes 14 MB. */
export function lateHttp2Upstream(limits: UpstreamLimits): UpstreamClient {
  let client: UpstreamClient | null = null;
  let loading: Promise<UpstreamClient> | null = null;
  const load = async (): Promise<UpstreamClient> => {
    const { createHttp2Upstream } = await import('./http2_upstream.ts');
    return (client = createHttp2Upstream(limits));
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
    close: async () => (await loading)?.close(),
  };
}
