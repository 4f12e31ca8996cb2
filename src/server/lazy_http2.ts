import { lazyLoad } from '../loading/lazy_load.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import type { Http2Service } from '../http2/server.ts';
import type { ServeConnection } from '../http1/server.ts';
import type { ListenerLimits } from '../io/listener_limits.ts';
import type { ExchangePort } from '../engine/drivers/exchange_port.ts';

/** HTTP/2 for a listener, loaded with the first connection that needs it. */
export function lazyHttp2(
  exchanges: ExchangePort,
  clients: Omit<Clients, 'tunnelIdleMs'>,
  limits: Partial<ListenerLimits> = {},
): { readonly serve: ServeConnection; readonly drain: Http2Service['drain'] } {
  const late = lazyLoad(async (): Promise<Http2Service> => {
    const { createHttp2Service } = await import('../http2/server.ts');
    return createHttp2Service(exchanges, clients, limits);
  });
  return {
    serve(socket, facts) {
      const begin = async (): Promise<void> => {
        try {
          const loaded = await late.get();
          loaded.serve(socket, facts);
        } catch {
          socket.destroy();
        }
      };
      const service = late.now();
      if (service === null) void begin();
      else service.serve(socket, facts);
    },
    drain: async (deadlineMs) => (await late.ifBegun())?.drain(deadlineMs) ?? NOTHING_CUT,
  };
}

const NOTHING_CUT = { cut: 0 };
