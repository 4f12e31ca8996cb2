import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fastify from 'fastify';
import type { Management } from '../src/control/management.ts';
import type { Load, Loaded } from './api_client.ts';
import { syncedWrites } from './floors.ts';
import { type BenchRow, figure, quantile, sized } from './measure.ts';

/** Reads of one kind. */
const READS = sized(40_000, 500);
/** Writes, each of which waits for the disk. */
const WRITES = sized(2_000, 100);
const CONNECTIONS = 16;
/** Requests before those that are measured: after so many, V8 has optimised what they run. */
const WARM_UP = { GET: sized(20_000, 200), POST: sized(2_000, 20) };

/** Sends requests from a process of its own, whose time is not that of the server. */
async function clientProcess(): Promise<{
  readonly load: (given: Load) => Promise<{ perSecond: number; p99: number; cpuMs: number }>;
  readonly stop: () => void;
}> {
  const child = fork(join(import.meta.dirname, 'api_client.ts'), { execArgv: [] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('the client has ended');
  });
  const answered = async (given: Load): Promise<Loaded> => {
    const answer = once(child, 'message');
    child.send(given);
    return (await Promise.race([answer, failed]))[0] as Loaded;
  };
  return {
    load: async (given) => {
      await answered({ ...given, requests: WARM_UP[given.method] });
      const cpu = process.cpuUsage();
      const { perSecond, times } = await answered(given);
      const { user, system } = process.cpuUsage(cpu);
      return { perSecond, p99: quantile(times, 0.99), cpuMs: (user + system) / 1000 / times.length };
    },
    stop: () => {
      failed.catch(() => undefined);
      child.disconnect();
    },
  };
}

type Measured = Awaited<ReturnType<Awaited<ReturnType<typeof clientProcess>>['load']>>;

/** A server that answers every request with the same text, which costs what HTTP costs. */
async function floor(name: string, text: string): Promise<{ url: string; close: () => Promise<unknown> }> {
  if (name === 'fastify') {
    const app = fastify();
    app.get('/*', (_request, reply) => reply.type('application/json').send(text));
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  }
  const fields = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const server = createServer((_request, response) => response.writeHead(200, fields).end(text));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads of one object and of a page of a list, with those of servers that only send the same text. */
async function readRows(
  url: string,
  id: string,
  { load, common }: { load: (given: Load) => Promise<Measured>; common: Omit<Load, 'url' | 'method'> },
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const paths = [
    ['reads', `/vaults/${id}`],
    ['reads of a page of 100', '/ip_policies'],
  ] as const;
  for (const [name, path] of paths) {
    const text = await (await fetch(url + path, { headers: common.headers })).text();
    const own = await load({ ...common, method: 'GET', url: url + path });
    const peers: Record<string, Measured> = {};
    for (const peer of ['node:http', 'fastify']) {
      const server = await floor(peer, text);
      peers[`${peer}, same bytes`] = await load({ ...common, method: 'GET', url: server.url + path });
      await server.close();
    }
    const row = (what: string, unit: string, of: (each: Measured) => number): BenchRow => ({
      ...figure(what, of(own), unit),
      peers: Object.fromEntries(Object.entries(peers).map(([peer, each]) => [peer, of(each)])),
    });
    rows.push(
      row(name, '/s', ({ perSecond }) => perSecond),
      row(`${name}, p99`, 'ms', ({ p99 }) => p99),
      row(`${name}, processor time of one`, 'ms', ({ cpuMs }) => cpuMs),
      row(`${name} in a second of one core`, '/s', ({ cpuMs }) => 1_000 / cpuMs),
    );
  }
  return rows;
}

/** Reads and durable writes of an API. */
export async function requestRows(management: Management): Promise<BenchRow[]> {
  const listening = await management.listen();
  const headers = {
    authorization: `Bearer ${management.firstKey!}`,
    'service-version': '2',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ name: 'one' });
  const created = await fetch(`${listening.url}/vaults`, { method: 'POST', headers, body });
  const { id } = (await created.json()) as { id: string };
  const client = await clientProcess();
  const common = { headers, requests: READS, connections: CONNECTIONS };
  for (let number = 0; number < 100; number++) {
    const policy = JSON.stringify({ description: `policy ${number}`, metadata: 'of the benchmark' });
    await fetch(`${listening.url}/ip_policies`, { method: 'POST', headers, body: policy });
  }
  const reads = await readRows(listening.url, id, { load: client.load, common });
  const writes = await client.load({
    ...common,
    requests: WRITES,
    method: 'POST',
    url: `${listening.url}/api_keys`,
  });
  client.stop();
  await listening.close();
  return [
    ...reads,
    figure('durable writes', writes.perSecond, '/s', syncedWrites()),
    figure('durable writes, p99', writes.p99, 'ms'),
    figure('durable writes, processor time of one', writes.cpuMs, 'ms'),
  ];
}
