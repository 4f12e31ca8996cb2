import type { Endable } from './containment.ts';
import { AFTER_CUT_MS } from './listener_limits.ts';

/**
 * Waits until a service is `quiet`: it has no exchanges and no connections. After `deadlineMs`, the connections that are
 * left are closed; returns their number.
 */
export async function drained(
  connections: Iterable<{ readonly socket: Endable }> & { readonly size: number },
  quiet: Promise<void>,
  deadlineMs: number,
): Promise<{ readonly cut: number }> {
  let cut = 0;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      cut = connections.size;
      for (const { socket } of connections) socket.destroy();
      timer = setTimeout(resolve, AFTER_CUT_MS);
    }, deadlineMs);
    void quiet.then(resolve);
  });
  clearTimeout(timer);
  return { cut };
}
