import { subscribe } from 'node:diagnostics_channel';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createEdge } from '../../src/edgeproof.ts';
import { limitHeap } from '../../src/cli/heap_limit.ts';
import type { Asked, Order, Stats } from './proxy.ts';

/**
 * Our proxy in a separate process, with the memory limit of the command line; reports counts over IPC:
 * `proxy_process.ts <settings as JSON>`.
 */
limitHeap();
const order = JSON.parse(process.argv[2]!) as Order;
const byReason: Record<string, number> = {};
let events = 0;
let accepted = 0;
/** Bytes that were read from connections that are closed by now. */
let closedRead = 0;
const open = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  accepted++;
  open.add(socket);
  socket.once('close', () => {
    open.delete(socket);
    closedRead += socket.bytesRead;
  });
});
const edge = createEdge(
  {
    backends: { app: { static: { address: order.upstream } } },
    edges: {
      https: {
        site: {
          hostports: ['soak.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  },
  {
    onEvent: ({ object }, explain) => {
      events++;
      const key = `${object.http.response.status_code} ${explain().decidedBy.code}`;
      byReason[key] = (byReason[key] ?? 0) + 1;
    },
  },
);
const listening = await edge.listen({
  ...(order.limits !== undefined && { limits: order.limits }),
  ...(order.upstreamLimits !== undefined && { upstreamLimits: order.upstreamLimits }),
});

function stats(asked: Asked): Stats {
  if (asked === 'after collecting') globalThis.gc?.();
  const { heapUsed, rss, external } = memory();
  const bytesRead = Array.from(open).reduce((sum, socket) => sum + socket.bytesRead, closedRead);
  return { heapUsed, rss, external, descriptors: descriptors(), events, accepted, bytesRead, byReason };
}

async function drain(): Promise<void> {
  const { cut } = await listening.close(order.drainMs ?? 5_000);
  process.send!({ stats: stats('now'), cut }, () => process.exit(0));
}

/** Zeros while no descriptor is left for looking. */
function memory(): Pick<Stats, 'heapUsed' | 'rss' | 'external'> {
  try {
    return process.memoryUsage();
  } catch {
    return { heapUsed: 0, rss: 0, external: 0 };
  }
}

/** Open descriptors; -1 while no descriptor is left for looking. */
function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return -1;
  }
}

process.on('message', (asked: Asked) => process.send!({ stats: stats(asked) }));
process.once('SIGTERM', () => {
  void drain();
});
process.send!({ port: listening.port });
