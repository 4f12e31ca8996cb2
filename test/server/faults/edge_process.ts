import { readdirSync, readlinkSync } from 'node:fs';
import { createEdge } from '../../../src/edgeproof.ts';

/** An edge in a separate process, so that its resource use can be measured. Run with `--expose-gc`. */

/** Its settings, as JSON in the first argument. */
export interface Order {
  readonly config: object;
  readonly tls: boolean;
  /** Host and port of a TCP edge. */
  readonly tcp: string;
}

/** Its first message. */
export interface Ports {
  readonly plain: number;
  readonly tls: number;
  readonly tcp: number;
}

/** Its reply to a request for statistics. */
export interface Stats {
  /** Resident memory, and what is in use after a garbage collection, in bytes. */
  readonly rss: number;
  readonly used: number;
  /** What each open file descriptor refers to, as Linux names it. */
  readonly descriptors: readonly string[];
  /** Events by the first segment of their path. */
  readonly events: Readonly<Record<string, number>>;
  readonly bugs: number;
  readonly warnings: readonly string[];
}

const order = JSON.parse(process.argv[2]!) as Order;
const events: Record<string, number> = {};
const warnings: string[] = [];
let bugs = 0;
process.on('warning', ({ name, message }) => void (name === 'EdgeproofFault' && warnings.push(message)));

const edge = createEdge(order.config, {
  onEvent: ({ object }, explain) => {
    const first = /"\/?([a-z0-9]+)\//.exec(JSON.stringify(object.http.request))?.[1] ?? 'none';
    events[first] = (events[first] ?? 0) + 1;
    if (explain().decidedBy.code === 'engine.bug') bugs++;
  },
});
const short = { headMs: 400, bodyIdleMs: 400, writeIdleMs: 400, lingerMs: 200, tunnelIdleMs: 400 };
const listening = await edge.listen({
  limits: { ...short, requestMs: 8_000, keepAliveMs: 10_000 },
  // Normal requests compete with the floods for the processor; only a faulty upstream takes this long.
  upstreamLimits: { headMs: 4_000, bodyIdleMs: 400, idleConnectionMs: 500 },
  streamLimits: { idleMs: 400, handshakeMs: 400 },
  tcp: { ports: { [order.tcp]: 0 } },
  ...(order.tls && { tls: { port: 0 } }),
});

/** What each open file descriptor refers to. The one that reads the folder itself is gone when its link is read. */
function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

process.on('message', () => {
  global.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const descriptors = openDescriptors();
  process.send!({ rss, used: heapUsed + external, descriptors, events, bugs, warnings } satisfies Stats);
});
process.on('disconnect', () => process.exit());
process.send!({
  plain: listening.port,
  tls: listening.tlsPort ?? 0,
  tcp: listening.ports().find(({ kind }) => kind === 'tcp')!.listensOn,
} satisfies Ports);
