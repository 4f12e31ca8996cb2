import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { readOpenMetrics } from '../server/open_metrics.ts';
import { type Running, start } from './command.ts';
import { untilServing, workersOf } from './worker_processes.ts';

/** Events of workers while the first process, which writes them, does not read. */

const upstream = createServer((_request, response) => response.end());
const folder = folderWith();
const all: Running[] = [];
beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => {
  for (const running of all) running.process.kill('SIGKILL');
  upstream.close();
});

/** Part of each event. */
const AGENT = 'a'.repeat(14_000);
const CONNECTIONS = 8;

/** A command with two workers, and connections that they have accepted. */
async function served(events: string) {
  const { port } = upstream.address() as AddressInfo;
  const file = join(folder, events);
  const options = ['--workers', '2', '--port', '0', '--admin-port', '0', '--events', file];
  const running = start(['http', String(port), ...options], folder);
  all.push(running);
  const [, url = ''] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  const [, metrics = ''] = await running.waitFor(/health of all workers: (\S+)/);
  await untilServing(running, 2, url);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const ask = async (): Promise<void> => {
    const sent = request(url, { agent, headers: { 'user-agent': AGENT } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
  };
  const askMany = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += CONNECTIONS)
      await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  };
  await askMany(CONNECTIONS);
  const written = (): number => readFileSync(file, 'utf8').split('\n').length - 1;
  await expect.poll(written).toBe(CONNECTIONS);
  return { running, metrics, agent, askMany, written };
}

it('wait when a worker ends, until the first process has read them', async () => {
  const { running, agent, askMany, written } = await served('ended.ndjson');
  const before = workersOf(running);
  running.process.kill('SIGSTOP');
  await askMany(200);
  const closed = Object.values(agent.freeSockets).flatMap((sockets) =>
    sockets!.map((socket) => once(socket, 'close')),
  );
  for (const worker of before) process.kill(worker, 'SIGTERM');
  await Promise.all(closed);
  running.process.kill('SIGCONT');
  await expect.poll(written).toBe(CONNECTIONS + 200);
  await expect.poll(() => workersOf(running).filter((pid) => before.includes(pid))).toEqual([]);
  expect(await running.stop('SIGTERM')).toBe(0);
});

it('are lost and counted beyond a limit, so that the memory of a worker is bounded', async () => {
  const { running, metrics, askMany, written } = await served('lost.ndjson');
  running.process.kill('SIGSTOP');
  // More than twice 64 MiB.
  const count = 12_000;
  await askMany(count);
  running.process.kill('SIGCONT');
  const lost = async (): Promise<number> => {
    const families = readOpenMetrics(await (await fetch(metrics)).text());
    return families
      .get('edgeproof_events_lost')!
      .samples.get('edgeproof_events_lost_total{reason="too_slow"}')!;
  };
  await expect.poll(async () => (await lost()) + written()).toBe(CONNECTIONS + count);
  expect(await lost()).toBeGreaterThan(1_000);
  expect(running.output()).toMatch(/lost: events arrive faster than the first process takes them/);
});
