import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Running, startProgram } from '../../test/running.ts';
import { ownRedis } from '../../test/shared_state/redis_server.ts';
import { cpuMs } from '../ingress/processes.ts';

/**
 * What workers and nodes cost: `node bench/shared_state/scaling.ts [seconds] [rounds]`, after `npm run build`. Requests per
 * second of processor time of all serving processes, as a share of those of one process in the same round. Processor time
 * is compared, because the load and the upstream run on the same cores.
 */
const [seconds = 5, rounds = 3] = process.argv.slice(2).map(Number);
const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');
const CONNECTIONS = 64;

const upstream = createServer((_request, response) => response.end('x'.repeat(1_024))).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-scaling-'));
/** A limit that lets everything pass is asked for each request. */
const limit = {
  name: 'all',
  algorithm: 'sliding_window',
  capacity: 1_000_000,
  rate: '60s',
  bucket_key: ['req.host'],
};
const limited = JSON.stringify({ on_http_request: [{ actions: [{ type: 'rate-limit', config: limit }] }] });
for (const [name, policy] of Object.entries({ plain: {}, limited: { traffic_policy: { value: limited } } })) {
  const route = { match_type: 'path_prefix', match: '/', ...policy, backend: { backend_id: 'app' } };
  const https = { shop: { hostports: ['shop.test:443'], routes: [route] } };
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({ backends: { app: { static: { address } } }, edges: { https } }),
  );
}
const redis = await ownRedis();
const shared = ['--shared', redis.url];

/** How many commands run, and their options. */
const WAYS: Readonly<Record<string, readonly [count: number, ...options: string[]]>> = {
  'one process': [1, 'plain.yaml'],
  '2 workers': [1, 'plain.yaml', '--workers', '2'],
  '4 workers': [1, 'plain.yaml', '--workers', '4'],
  '2 nodes': [2, 'plain.yaml', ...shared],
  '4 nodes': [4, 'plain.yaml', ...shared],
  'one process, a limit': [1, 'limited.yaml'],
  '2 workers, a limit': [1, 'limited.yaml', '--workers', '2'],
  '4 workers, a limit': [1, 'limited.yaml', '--workers', '4'],
  '2 nodes, a limit in Redis': [2, 'limited.yaml', ...shared],
  '4 nodes, a limit in Redis': [4, 'limited.yaml', ...shared],
};
const ratios = new Map<string, number[]>();
for (let round = 0; round < rounds; round++) {
  let one = 0;
  for (const [name, [count, ...options]] of Object.entries(WAYS)) {
    const { perCpuSecond, perSecond } = await measured(count, options);
    if (name === 'one process') one = perCpuSecond;
    ratios.set(name, [...(ratios.get(name) ?? []), perCpuSecond / one]);
    console.log(
      `${name.padEnd(28)} ${Math.round(perCpuSecond).toLocaleString('en')} requests per second of a core  ${(perCpuSecond / one).toFixed(2)} ×  ${Math.round(perSecond).toLocaleString('en')}/s`,
    );
  }
}
console.log(`\nmedian of ${rounds} rounds`);
for (const [name, all] of ratios)
  console.log(`${name.padEnd(28)} ${all.toSorted((a, b) => a - b)[all.length >> 1]!.toFixed(2)} ×`);
await redis.close();
upstream.close();

async function measured(count: number, options: readonly string[]) {
  const commands: Running[] = [];
  const urls: string[] = [];
  for (let at = 0; at < count; at++) {
    const running = startProgram(
      process.execPath,
      [MAIN, 'dev', ...options, '--port', '0', '--no-watch'],
      folder,
    );
    commands.push(running);
    urls.push((await running.waitFor(/ready in \d+ ms {2}(http:\S+)/))[1]!);
  }
  // What is compiled first is not measured.
  await Promise.all(urls.map(async (url) => loaded(url, 2, CONNECTIONS / count)));
  const cpu = (): number => commands.reduce((sum, { process: { pid } }) => sum + cpuMs(pid!), 0);
  const before = cpu();
  const done = await Promise.all(urls.map(async (url) => loaded(url, seconds, CONNECTIONS / count)));
  const requests = done.reduce((sum, each) => sum + each, 0);
  const result = { perCpuSecond: (1_000 * requests) / (cpu() - before), perSecond: requests / seconds };
  for (const running of commands) await running.stop('SIGTERM');
  return result;
}

/** Loads an address; the number of responses, all of which have to be good. */
async function loaded(url: string, forSeconds: number, connections: number): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${forSeconds}s`,
    '-H',
    'Host: shop.test',
    url,
  ]);
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  return Number(requests);
}
