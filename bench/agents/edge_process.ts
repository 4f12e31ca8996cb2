import { readFileSync, readdirSync } from 'node:fs';
import { limitHeap } from '../../src/cli/heap_limit.ts';
import { localAuthority, localCertificates } from '../../src/cli/local_authority.ts';
import { newIds } from '../../src/events/identifiers.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { containedFaults } from '../../src/io/containment.ts';
import { Agents } from '../../src/tunnel/agents.ts';
import type { CpuStats, EdgeOrder, EdgePorts, EdgeStats } from './processes.ts';

/** An edge with agents in a separate process: `edge_process.ts <settings as JSON>`, run with `--expose-gc`. */
limitHeap();
const { config, tcp, folder } = JSON.parse(process.argv[2]!) as EdgeOrder;
const authority = await localAuthority(folder);
const agents = new Agents({
  nowMs: Date.now,
  newId: newIds(Date.now),
  admit: async () => ({ credential: null, acl: [] }),
});
const edge = createEdge(config, { agents });
// As the command line: one certificate a name.
const certificateFor = localCertificates(folder);
const listening = await edge.listen({
  tcp: { ports: { [tcp]: 0 } },
  agents: { port: 0, certificateFor },
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

process.on('message', ({ what }: { readonly what: 'cpu' | 'stats' }) => {
  // A collection of the whole heap would be part of what a transfer costs.
  if (what === 'cpu') {
    process.send!({ cpuMs: cpuMs() } satisfies CpuStats);
    return;
  }
  global.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send!({
    rss,
    heapUsed,
    external,
    cpuMs: cpuMs(),
    descriptors: readdirSync('/proc/self/fd').length,
    sessions: agents.sessions().length,
    tunnels: agents.tunnels.all().length,
    faults: containedFaults(),
  } satisfies EdgeStats);
});
process.on('disconnect', () => process.exit());
process.send!({
  plain: listening.port,
  tcp: listening.ports().find(({ kind }) => kind === 'tcp')!.listensOn,
  agents: listening.agentsPort!,
  ca: readFileSync(authority.file, 'utf8'),
} satisfies EdgePorts);
