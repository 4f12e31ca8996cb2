import { readdirSync } from 'node:fs';
import { createEdge } from '../../src/edgeproof.ts';

/** An edge in a process of its own, so that what attacks take of it can be measured. Run with `--expose-gc`. */

/** What it is started with, as JSON in its first argument. */
export interface Order {
  readonly config: object;
  readonly tls: boolean;
  /** Host and port of a TCP edge. */
  readonly tcp: string;
}

/** What it tells first. */
export interface Ports {
  readonly plain: number;
  readonly tls: number;
  readonly tcp: number;
}

/** What it tells when asked. */
export interface Stats {
  readonly rss: number;
  readonly descriptors: number;
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
    if (explain().because.code === 'engine.bug') bugs++;
  },
});
const short = { headMs: 400, bodyIdleMs: 400, writeIdleMs: 400, lingerMs: 200, tunnelIdleMs: 400 };
const listening = await edge.listen({
  limits: { ...short, requestMs: 8_000, keepAliveMs: 10_000 },
  // Good requests share the processor with the floods: only a bad upstream takes this long.
  upstreamLimits: { headMs: 4_000, bodyIdleMs: 400, idleConnectionMs: 500 },
  streamLimits: { idleMs: 400, handshakeMs: 400 },
  tcp: { ports: { [order.tcp]: 0 } },
  ...(order.tls && { tls: { port: 0 } }),
});

process.on('message', () => {
  global.gc?.();
  process.send!({
    rss: process.memoryUsage().rss,
    descriptors: readdirSync('/proc/self/fd').length,
    events,
    bugs,
    warnings,
  } satisfies Stats);
});
process.on('disconnect', () => process.exit());
process.send!({
  plain: listening.port,
  tls: listening.tlsPort ?? 0,
  tcp: listening.ports().find(({ kind }) => kind === 'tcp')!.listensOn,
} satisfies Ports);
