import type { Hands } from './hands.ts';
import type { Http2Service } from './http2.ts';
import type { ServeConnection } from './http1_service.ts';
import type { ListenerLimits } from './limits.ts';
import type { Plane } from './port.ts';

/** HTTP/2 for a listener: loaded with the first connection that speaks it, for what Node has for it takes 14 MB. */
export function lateHttp2(
  plane: Plane,
  hands: Omit<Hands, 'tunnelIdleMs'>,
  limits: Partial<ListenerLimits> = {},
): { readonly serve: ServeConnection; readonly drain: Http2Service['drain'] } {
  let loading: Promise<Http2Service> | null = null;
  let service: Http2Service | null = null;
  const load = async (): Promise<Http2Service> => {
    const { createHttp2Service } = await import('./http2.ts');
    return (service = createHttp2Service(plane, hands, limits));
  };
  return {
    serve(socket, facts) {
      const begin = async (): Promise<void> => {
        try {
          const loaded = await (loading ??= load());
          loaded.serve(socket, facts);
        } catch {
          socket.destroy();
        }
      };
      if (service === null) void begin();
      else service.serve(socket, facts);
    },
    drain: async (deadlineMs) => (await loading)?.drain(deadlineMs) ?? NOBODY,
  };
}

const NOBODY = { cut: 0 };
