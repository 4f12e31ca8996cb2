import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../random.ts';
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts';
import { postgresPrograms } from './store/postgres_server.ts';

const programs = postgresPrograms('three nodes on one PostgreSQL');

let written = 0;
/** Changes what every edge answers; the new answer. */
async function change(cluster: Cluster, node: ClusterNode, more = ''): Promise<string> {
  const body = `v${++written}`;
  const heard = await node.api('PATCH', `/backends/http_response/${cluster.backend}${more}`, { body });
  expect([heard?.status, heard?.text]).toEqual([200, expect.any(String)]);
  if (more !== '') expect(heard!.headers.get('server-nodes')).toBe('3/3');
  return body;
}

/** Milliseconds from now until the edge of a node answers so. The pause leaves the cores to the nodes. */
async function until(node: ClusterNode, body: string, pauseMs = 2): Promise<number> {
  const from = performance.now();
  while ((await node.edge()) !== body) {
    if (performance.now() - from > 20_000) return Infinity;
    await setTimeout(pauseMs);
  }
  return performance.now() - from;
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1]!;

describe.skipIf(programs === null)('three nodes that are woken', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(programs!, 3);
  });
  afterAll(() => cluster?.close());
  const other = (node: ClusterNode) => cluster.nodes.filter((each) => each !== node);

  it('have a write active at once where it was made, and soon everywhere', async () => {
    const delays: number[] = [];
    for (let turn = 0; turn < runs(1_000, 50); turn++) {
      const node = cluster.nodes[turn % 3]!;
      const body = await change(cluster, node);
      expect(await node.edge()).toBe(body);
      delays.push(...(await Promise.all(other(node).map((each) => until(each, body)))));
    }
    // Those that are not woken ask once in some seconds. Other test files take turns on the cores, so the
    // tail says nothing here.
    expect(percentile(delays, 0.5)).toBeLessThan(250);
  }, 300_000);

  it('have a write active everywhere when an answer has waited for all', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const body = await change(cluster, cluster.nodes[turn % 3]!, '?wait=all');
      expect(await Promise.all(cluster.nodes.map((node) => node.edge()))).toEqual([body, body, body]);
    }
    const heard = await cluster.nodes[0]!.api(
      'PATCH',
      `/backends/http_response/${cluster.backend}?wait=some`,
      {},
    );
    expect([heard!.status, heard!.text]).toEqual([400, expect.stringContaining('must be all')]);
  });

  it('serve their last revision and say its age while they are cut off, then the newest', async () => {
    const [first, cut] = cluster.nodes as [ClusterNode, ClusterNode];
    const before = await change(cluster, cut, '?wait=all');
    cut.relay.cut();
    const after = await change(cluster, first);
    const refused = await cut.api('PATCH', `/backends/http_response/${cluster.backend}`, { body: 'no' });
    expect([refused!.status, refused!.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await cut.edge()).toBe(before);
    const ageOf = async () => {
      const heard = await cut.api('GET', '/ip_policies');
      return Number(/;age=([\d.]+)$/.exec(heard!.headers.get('server-revision')!)![1]);
    };
    const age = await ageOf();
    while ((await ageOf()) < age + 0.5) await setTimeout(50);
    cut.relay.mend();
    expect(await until(cut, after)).toBeLessThan(10_000);
  });

  it('restart one after the other, with no request failed', async () => {
    const out = new Set<ClusterNode>();
    let [isOver, turn, failed, answered] = [false, 0, 0, 0];
    const client = async () => {
      while (!isOver) {
        // What a load balancer does: it asks nodes that are ready.
        const ready = cluster.nodes.filter((node) => !out.has(node));
        const node = ready[turn++ % ready.length]!;
        if ((await node.edge()) === null) failed++;
        else answered++;
        await setTimeout(5);
      }
    };
    const clients = Array.from({ length: 4 }, client);
    for (const node of cluster.nodes) {
      out.add(node);
      await change(cluster, other(node)[0]!);
      expect(await node.stop()).toBe(0);
      await node.start();
      out.delete(node);
    }
    isOver = true;
    await Promise.all(clients);
    expect(failed).toBe(0);
    expect(answered).toBeGreaterThan(100);
  });
});

describe.skipIf(programs === null)('three nodes whose wake-ups are all lost', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(programs!, 3, { limits: { listens: false } });
  });
  afterAll(() => cluster?.close());

  it('have a write active within five seconds', async () => {
    const delays: number[] = [];
    for (let turn = 0; turn < runs(100, 5); turn++) {
      const body = await change(cluster, cluster.nodes[turn % 3]!);
      delays.push(...(await Promise.all(cluster.nodes.map((each) => until(each, body, 25)))));
    }
    expect(Math.max(...delays)).toBeLessThan(5_000);
    // They were indeed not woken.
    expect(Math.max(...delays)).toBeGreaterThan(250);
  }, 600_000);
});
