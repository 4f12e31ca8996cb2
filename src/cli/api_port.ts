import type { ApiListening } from '../control/api/listen.ts';
import type { Management } from '../control/management.ts';

/** Number of ports tried before giving up, as for the edge. */
const PORTS_TRIED = 100;

interface Place {
  readonly host: string;
  readonly port: number;
  readonly strictPort: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Serves the management API on the port, or on the next free one if it is in use. Rejects as `listen` does. */
export async function listenForApi(
  management: Management,
  { host, port, strictPort, tls }: Place,
): Promise<ApiListening> {
  const last = strictPort || port === 0 ? port : Math.min(port + PORTS_TRIED - 1, 65_535);
  for (let tried = port; ; tried++) {
    try {
      return await management.listen({ host, port: tried, ...(tls && { tls }) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tried >= last) throw error;
    }
  }
}

/** A line about a port other than the wanted one, or none. */
export function movedLine(what: string, wanted: number, got: number): readonly string[] {
  return wanted === 0 || wanted === got
    ? []
    : [`${what} ${wanted} is in use; this is the next free one (--strict-port: fail instead)`];
}
