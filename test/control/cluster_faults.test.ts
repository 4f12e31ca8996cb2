import { createClient } from '@redis/client';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSealedStore } from '../../src/control/sealed_store.ts';
import { NATS_SERVER, ownNats } from '../cli/own_nats.ts';
import { skipped } from '../peers.ts';
import { IS_FULL, SEED, runs, seeded } from '../random.ts';
import { type OwnRedis, REDIS_SERVER, ownRedis } from '../shared_state/redis_server.ts';
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts';
import { type Operation, isLinearizable } from './linearizability.ts';
import { hasNamespaces } from './namespace.ts';
import { postgresPrograms } from './store/postgres_server.ts';

/** Faults in all: EDGEPROOF_TEST_SIZE=4 is a thousand. */
const FAULTS = IS_FULL ? runs(250) : 5;
/** The search in a history takes longer with every write that got no answer. */
const FAULTS_OF_HISTORY = 10;
const CLIENTS = 6;
const LONGEST_MS = 300;

const programs = postgresPrograms('three nodes under faults');
const isApart = programs !== null && hasNamespaces('three nodes in network namespaces');
const isQueued = programs !== null && isInstalled('nats-server', NATS_SERVER);
const isShared = programs !== null && isInstalled('redis-server', REDIS_SERVER);
const random = seeded(23);
const below = (count: number): number => Math.floor(random() * count);

/** What happened to one register, an IP policy whose description is its value. */
type History = Operation[];

function isInstalled(name: string, path: string | null | undefined): boolean {
  if (typeof path !== 'string') skipped(`faults of ${name} under three nodes`, 'it is not installed');
  return typeof path === 'string';
}

/** A server that the nodes use, and its death and return. */
interface Server {
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<unknown>;
}

// In network namespaces, links go down, too: nothing comes through, and neither side is notified.
describe
  .skipIf(programs === null)
  .each([
    { where: 'on one network', inNamespaces: false, faults: FAULTS },
    ...(isApart
      ? [{ where: 'in network namespaces', inNamespaces: true, faults: Math.max(3, Math.ceil(FAULTS / 5)) }]
      : []),
  ])('three nodes $where under writers, traffic and faults', ({ inNamespaces, faults }) => {
  let cluster: Cluster;
  let nats: Awaited<ReturnType<typeof ownNats>> | null = null;
  let redis: OwnRedis | null = null;
  const servers: Server[] = [];
  const closing: (() => Promise<void> | void)[] = [];
  beforeAll(async () => {
    redis = isShared ? await ownRedis() : null;
    if (redis !== null) closing.push(redis.close);
    nats = isQueued ? await ownNats(closing) : null;
    await nats?.ask(({ streams }) => streams.add({ name: 'AUDIT', subjects: ['edge.audit'] }));
    cluster = await startCluster(programs!, 3, { inNamespaces, redis, nats });
    closing.push(cluster.close);
    servers.push(cluster.postgres);
    if (redis !== null) servers.push({ kill: redis.stop, start: redis.start });
    if (nats !== null) servers.push({ kill: nats.kill, start: nats.begin });
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  it(`${faults} faults, seed ${SEED}: no write is lost or half applied, and no node goes back`, async () => {
    const seen = { writes: 0, acknowledged: 0, edge: 0 };
    const acknowledged = new Set<string>();
    for (let done = 0; done < faults; done += FAULTS_OF_HISTORY) {
      const before = await Promise.all(cluster.registers.map(async (id) => valueOf(cluster.nodes[0]!, id)));
      const histories = before.map((value): History => [{ kind: 'write', value, start: -2, end: -1 }]);
      const state = { isOver: false };
      const clients = Array.from({ length: CLIENTS }, () => client(cluster, histories, state));
      const traffic = [...cluster.nodes.map((node) => visitor(node, state)), changer(cluster, state)];
      for (let fault = 0; fault < Math.min(FAULTS_OF_HISTORY, faults - done); fault++)
        await strike(cluster.nodes, servers);
      state.isOver = true;
      await Promise.all(clients);
      seen.edge += (await Promise.all(traffic)).reduce((sum, count) => sum + count, 0);
      for (const [at, history] of histories.entries()) {
        const start = performance.now();
        const value = await valueOf(cluster.nodes[at]!, cluster.registers[at]!);
        history.push({ kind: 'read', value, start, end: performance.now() });
        expect({ history, is: isLinearizable(withoutUnread(history)) }).toEqual({ history, is: true });
        const writes = history.filter(({ kind }) => kind === 'write');
        seen.writes += writes.length;
        seen.acknowledged += writes.filter(({ end }) => end < Infinity).length;
      }
      await expectWhole(cluster, histories);
      for (const { kind, value, end } of histories.flat())
        if (kind === 'write' && 0 <= end && end < Infinity) acknowledged.add(value!);
    }
    if (nats !== null) await expectDelivered(nats, acknowledged);
    if (redis !== null) await expectCounted(redis.url, cluster.nodes);
    // The faults hit writes, and many writes succeed, also beside other work.
    expect(seen.acknowledged).toBeGreaterThan(seen.writes / 4);
    expect(seen.edge).toBeGreaterThan(faults);
    process.stderr.write(`${faults} faults: ${JSON.stringify(seen)}\n`);
  }, 3_600_000);
});

let written = 0;

/** Writes and reads registers at random nodes. */
async function client(
  { nodes, registers }: Cluster,
  histories: readonly History[],
  state: { isOver: boolean },
) {
  while (!state.isOver) {
    const register = below(registers.length);
    const [node, path] = [nodes[below(nodes.length)]!, `/ip_policies/${registers[register]}`];
    const isWrite = random() < 0.5;
    const value = `w${++written}`;
    const start = performance.now();
    const heard = await node.api(
      isWrite ? 'PATCH' : 'GET',
      path,
      isWrite ? { description: value } : undefined,
    );
    const isDone = heard?.status === 200;
    const end = isDone ? performance.now() : Infinity;
    // Nothing but a cut explains an answer that is not the expected one.
    if (heard !== null && !isDone)
      expect([heard.status, heard.text]).toEqual([503, expect.stringMatching(/store|node/)]);
    const read = isDone && !isWrite ? (JSON.parse(heard.text) as { description: string }).description : null;
    histories[register]!.push({
      kind: isWrite ? 'write' : 'read',
      value: isWrite ? value : read,
      start,
      end,
    });
    if (!isDone) await setTimeout(5);
  }
}

let body = 0;

/** Changes what all edges answer, one change after the other. */
async function changer({ nodes, backend }: Cluster, state: { isOver: boolean }): Promise<number> {
  let count = 0;
  for (; !state.isOver; count++) {
    await nodes[below(nodes.length)]!.api('PATCH', `/backends/http_response/${backend}`, {
      body: `v${++body}`,
    });
    await setTimeout(10);
  }
  return count;
}

const newest = new Map<ClusterNode, { readonly life: number; readonly body: number }>();

/** Visits the edge of a node: while the node is there it answers, and never with an older configuration. */
async function visitor(node: ClusterNode, state: { isOver: boolean }): Promise<number> {
  let count = 0;
  while (!state.isOver) {
    const [life, wasUp] = [node.life(), node.isUp()];
    const answer = await node.edge();
    if (wasUp && node.isUp() && node.life() === life) {
      expect(answer).toMatch(/^v\d+$/);
      const now = Number(answer!.slice(1));
      const last = newest.get(node);
      if (last?.life === life) expect(now).toBeGreaterThanOrEqual(last.body);
      newest.set(node, { life, body: now });
      count++;
    }
    await setTimeout(2);
  }
  return count;
}

/** One fault, and its end. */
async function strike(nodes: readonly ClusterNode[], servers: readonly Server[]): Promise<void> {
  const node = nodes[below(nodes.length)]!;
  const { relay, links, namespace } = node;
  const link = links[below(links.length)]!;
  const lasts = (): Promise<void> => setTimeout(below(LONGEST_MS));
  await lasts();
  const kind = random();
  if (namespace !== null && random() < 0.5) {
    namespace.down();
    await lasts();
    namespace.up();
  } else if (kind < 0.25) {
    await node.kill();
    await lasts();
    await node.start();
  } else if (kind < 0.45) {
    link.cut();
    await lasts();
    link.mend();
  } else if (kind < 0.65) {
    link.hold();
    await lasts();
    link.mend();
  } else if (kind < 0.8) {
    relay.cutAfter('COMMIT');
    await lasts();
    relay.mend();
  } else {
    const server = servers[below(servers.length)]!;
    await server.kill();
    await lasts();
    await server.start();
  }
}

/** The value of a register, as soon as the node has the store again. */
async function valueOf(node: ClusterNode, register: string): Promise<string> {
  const from = performance.now();
  for (;;) {
    const heard = await node.api('GET', `/ip_policies/${register}`);
    if (heard?.status === 200) return (JSON.parse(heard.text) as { description: string }).description;
    if (performance.now() - from > 30_000) throw new Error(`no node reads: ${heard?.status} ${heard?.text}`);
    await setTimeout(50);
  }
}

/** Without the writes that got no answer and that no read has seen: they say nothing. */
function withoutUnread(history: History): History {
  const reads = new Set(history.filter(({ kind }) => kind === 'read').map(({ value }) => value));
  return history.filter(({ kind, value, end }) => kind === 'read' || end < Infinity || reads.has(value));
}

/** Every acknowledged write has its audit record, no write has two, and there are none of others. */
async function expectWhole({ postgres, keyFile }: Cluster, histories: readonly History[]): Promise<void> {
  const { store } = await openSealedStore(postgres.url, { sealing: { keyFile } });
  const records = await store.read((view) => view.audit(1_000_000));
  await store.close();
  const counts = new Map<unknown, number>();
  for (const { event } of records) {
    const value = (JSON.parse(event) as { object: { description?: unknown } }).object.description;
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  for (const { kind, value, start, end } of histories.flat()) {
    if (kind !== 'write' || start < 0) continue;
    const count = counts.get(value) ?? 0;
    expect({ value, count, may: end < Infinity ? count === 1 : count <= 1 }).toEqual({
      value,
      count,
      may: true,
    });
  }
}

/** Every acknowledged write reaches the queue; what comes twice has the same id. */
async function expectDelivered(
  nats: Awaited<ReturnType<typeof ownNats>>,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  const ids = new Map<unknown, string>();
  let read = 0;
  const missing = async (): Promise<readonly string[]> => {
    await nats.ask(async ({ streams }) => {
      const { messages } = (await streams.info('AUDIT')).state;
      while (read < messages) {
        const event = JSON.parse((await streams.getMessage('AUDIT', { seq: ++read })).string()) as {
          readonly event_id: string;
          readonly object: { readonly description?: unknown };
        };
        const { description } = event.object;
        expect(ids.get(description) ?? event.event_id).toBe(event.event_id);
        ids.set(description, event.event_id);
      }
    });
    return [...acknowledged].filter((value) => !ids.has(value));
  };
  await expect.poll(missing, { timeout: 120_000, interval: 500 }).toEqual([]);
  expect(ids.size).toBeGreaterThanOrEqual(acknowledged.size);
}

/** The nodes count in Redis again after all faults. */
async function expectCounted(url: string, nodes: readonly ClusterNode[]): Promise<void> {
  const redis = await createClient({ url }).connect();
  const keys = async (): Promise<readonly string[]> => {
    await Promise.all(nodes.map((node) => node.edge()));
    return redis.keys('*');
  };
  await expect.poll(keys).toContainEqual(expect.stringMatching(/^edgeproof:/));
  redis.destroy();
}
