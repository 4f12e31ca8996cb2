import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { type Running, start } from './command.ts';
import { readOpenMetrics } from '../server/open_metrics.ts';
import { untilServing, workersOf } from './worker_processes.ts';

/** Workers that fail, and what becomes of the others. */

const pending: ServerResponse[] = [];
const upstream = createServer((request, response) => {
  if (request.url !== '/slow') return response.end('the app');
  response.writeHead(200, { 'content-length': '4' }).flushHeaders();
  return pending.push(response);
});
const folder = folderWith();
const file = join(folder, 'edge.yaml');
let edge: string;
const all: Running[] = [];

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  edge = `backends: { app: { static: { address: '127.0.0.1:${(upstream.address() as AddressInfo).port}' } } }
edges: { https: { a: { hostports: ['a.test:443'], routes: [
  { match_type: path_prefix, match: /, backend: { backend_id: app } } ] } } }\n`;
});
beforeEach(() => writeFileSync(file, edge));
afterAll(() => {
  for (const running of all) running.process.kill('SIGKILL');
  upstream.closeAllConnections();
  upstream.close();
});

async function served(...options: string[]): Promise<{ running: Running; url: string }> {
  const running = start(['dev', file, '--workers', '2', '--port', '0', ...options], folder);
  all.push(running);
  const [, url = ''] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await untilServing(running, 2, url);
  return { running, url };
}

const get = async (url: string): Promise<[status: number, text: string]> => {
  const response = await fetch(url, { headers: { connection: 'close' } });
  return [response.status, await response.text()];
};

function lowestFreeDescriptor(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let number = 0;
  while (open.has(number)) number++;
  return number;
}

async function killOne(running: Running): Promise<void> {
  const [victim] = workersOf(running);
  process.kill(victim!, 'SIGKILL');
  await running.waitFor(new RegExp(`worker ${victim} ended \\(SIGKILL\\); starting another one`));
}

describe('a reload by several workers', () => {
  it('is printed once, also when the worker that printed it was killed', async () => {
    const { running, url } = await served();
    const lives = (): number => running.output().match(/is live in/g)?.length ?? 0;
    const change = async (path: string): Promise<void> => {
      writeFileSync(file, edge.replace('path_prefix, match: /', `exact_path, match: ${path}`));
      // Connections go to the workers in turn.
      const four = () => Promise.all([1, 2, 3, 4].map(async () => (await get(`${url}${path}`))[0]));
      await expect.poll(four, { timeout: 10_000 }).toEqual([200, 200, 200, 200]);
    };
    await change('/one');
    await expect.poll(lives).toBe(1);
    await killOne(running);
    await untilServing(running, 2, url);
    await change('/two');
    await expect.poll(lives, { timeout: 5_000 }).toBe(2);
    expect(await running.stop('SIGTERM')).toBe(0);
    expect(lives()).toBe(2);
  });
});

describe('a worker that cannot be started', () => {
  it('while the file has errors leaves the others serving, and is started once they are corrected', async () => {
    const { running, url } = await served();
    writeFileSync(file, 'edges: {\n');
    await running.waitFor(/still serving revision 1/);
    await killOne(running);
    await running.waitFor(/ended \(3\); starting another one in 0\.5 s/);
    expect(await get(url)).toEqual([200, 'the app']);
    writeFileSync(file, edge);
    await untilServing(running, 2, url);
    expect(await running.stop('SIGTERM')).toBe(0);
  });

  it('because a limit of the system is reached leaves the others serving', async () => {
    const { running, url } = await served('--no-watch');
    const { pid } = running.process;
    const limit = (files: number): void =>
      void execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:4096`]);
    // That of the worker that ends is free again, which is enough for a connection and too few for a worker.
    limit(lowestFreeDescriptor(pid!));
    await killOne(running);
    await running.waitFor(/no worker could be started: too many files are open/);
    expect(await get(url)).toEqual([200, 'the app']);
    limit(4096);
    await untilServing(running, 2, url);
    expect(await running.stop('SIGTERM')).toBe(0);
  });
});

it('a worker that hangs is replaced, and the connections that it had not accepted are served', async () => {
  const { running, url } = await served();
  const [hung] = workersOf(running);
  process.kill(hung!, 'SIGSTOP');
  const answers = Array.from({ length: 4 }, () => get(url));
  await running.waitFor(new RegExp(`worker ${hung} does not answer for 15 s, and is killed`));
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 4 }, () => [200, 'the app']));
  await untilServing(running, 2, url);
  expect(workersOf(running)).not.toContain(hung);
  expect(await running.stop('SIGTERM')).toBe(0);
}, 60_000);

it('workers that are killed at each start end the command with an error', async () => {
  const { running } = await served('--no-watch');
  const kill = setInterval(() => {
    for (const worker of workersOf(running)) process.kill(worker, 'SIGKILL');
  }, 20);
  const [code] = (await once(running.process, 'exit')) as [number];
  clearInterval(kill);
  expect(code).toBe(4);
  expect(running.output()).toMatch(/ended \(SIGKILL\); no worker serves: stopping/);
});

it('an admin port that is taken is an error, as for one process', async () => {
  const taken = createTcpServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const running = start(['dev', file, '--workers', '2', '--port', '0', '--admin-port', String(port)], folder);
  all.push(running);
  const [code] = (await once(running.process, 'close')) as [number];
  expect([code, running.output()]).toEqual([4, expect.stringMatching(/^admin port: cannot listen on/)]);
  taken.close();
});

describe('a stop', () => {
  it('ends all at the second signal, with the exit code for that', async () => {
    const { running, url } = await served('--drain', '10m');
    const cut = get(`${url}/slow`).catch((error: Error) => error.message);
    await expect.poll(() => pending.length).toBeGreaterThan(0);
    running.process.kill('SIGTERM');
    await running.waitFor(/draining; repeat to stop at once/);
    expect(await running.stop('SIGTERM')).toBe(130);
    expect(await cut).toBe('terminated');
  });

  it('kills a worker that does not end', async () => {
    const { running } = await served('--drain', '10ms');
    const [stuck] = workersOf(running);
    process.kill(stuck!, 'SIGSTOP');
    expect(await running.stop('SIGTERM')).toBe(0);
    expect(running.output()).toContain(`worker ${stuck} did not end in time, and is killed`);
  });
});

it('workers answer what they have begun when the first process is killed, and end', async () => {
  const { running, url } = await served('--drain', '10m');
  const workers = workersOf(running);
  const before = pending.length;
  const answered = get(`${url}/slow`);
  await expect.poll(() => pending.length).toBe(before + 1);
  running.process.kill('SIGKILL');
  // The idle one has ended: the other one knows, too, that the first process is gone.
  const left = () => workers.filter((pid) => existsSync(`/proc/${pid}`));
  await expect.poll(() => left().length).toBe(1);
  pending.at(-1)!.end('done');
  expect(await answered).toEqual([200, 'done']);
  await expect.poll(left).toEqual([]);
});

it('counts stay when their worker has ended, or does not answer', async () => {
  const { running, url } = await served('--admin-port', '0');
  const [, metrics = ''] = await running.waitFor(/health of all workers: (\S+)/);
  const counted = async (): Promise<number> => {
    const { samples } = readOpenMetrics(await (await fetch(metrics)).text()).get('edgeproof_requests')!;
    return [...samples.values()].reduce((sum, each) => sum + each, 0);
  };
  for (let at = 0; at < 20; at++) await get(url);
  expect(await counted()).toBe(20);
  await killOne(running);
  expect(await counted()).toBe(20);
  for (const worker of workersOf(running)) process.kill(worker, 'SIGSTOP');
  expect(await counted()).toBe(20);
  for (const worker of workersOf(running)) process.kill(worker, 'SIGCONT');
  await untilServing(running, 2, url);
  await get(url);
  expect(await counted()).toBe(21);
});
