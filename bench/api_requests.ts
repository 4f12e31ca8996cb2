import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Management } from '../src/control/management.ts';
import type { Load, Loaded } from './api_client.ts';
import { type BenchRow, figure, quantile } from './measure.ts';

const REQUESTS = 2_000;
const CONNECTIONS = 16;
/** Requests before those that are measured. */
const WARM_UP = 100;

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
      await answered({ ...given, requests: WARM_UP });
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
  const common = { headers, requests: REQUESTS, connections: CONNECTIONS };
  const reads = await client.load({ ...common, method: 'GET', url: `${listening.url}/vaults/${id}` });
  const writes = await client.load({ ...common, method: 'POST', url: `${listening.url}/api_keys` });
  client.stop();
  await listening.close();
  return [
    figure('reads', reads.perSecond, '/s'),
    figure('reads, p99', reads.p99, 'ms'),
    figure('reads, processor time of one', reads.cpuMs, 'ms'),
    figure('durable writes', writes.perSecond, '/s'),
    figure('durable writes, p99', writes.p99, 'ms'),
    figure('durable writes, processor time of one', writes.cpuMs, 'ms'),
  ];
}
