import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Running, startProgram } from '../../test/running.ts';
import { REDIS_SERVER, ownRedis } from '../../test/shared_state/redis_server.ts';
import { cpuMs, freePorts, start, untilListening, whereIs } from '../ingress/processes.ts';
import { nginxArguments } from '../ingress/servers.ts';
import { startUpstream } from '../ingress/surroundings.ts';
import { type BenchRow, type BenchSection, overBlocks, render, sized } from '../measure.ts';

/**
 * What workers and nodes cost: `node bench/shared_state/scaling.ts [seconds] [rounds]`, after `npm run build`. Requests per
 * second of processor time of all serving processes, as a share of those of one process in the same round. Processor time
 * is compared, because the load and the upstream run on the same cores. nginx with as many processes is the floor: what it
 * loses, the machine does.
 */
const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');
/** For each serving process, as where each has a core: one that serves fewer at a time makes more system calls for each. */
const CONNECTIONS = 64;

/** A limit that lets everything pass is asked for each request. */
const LIMIT = {
  name: 'all',
  algorithm: 'sliding_window',
  capacity: 1_000_000,
  rate: '60s',
  bucket_key: ['req.host'],
};
const LIMITED = JSON.stringify({ on_http_request: [{ actions: [{ type: 'rate-limit', config: LIMIT }] }] });

interface Way {
  /** How many processes serve. */
  readonly processes: number;
  /** How many commands start them. */
  readonly commands: number;
  /** Options of a command; null for nginx. */
  readonly options: readonly string[] | null;
}

const byNginx = (processes: number): Way => ({ processes, commands: 1, options: null });

const byWorkers = (processes: number, file: string): Way => ({
  processes,
  commands: 1,
  options: [file, ...(processes > 1 ? ['--workers', String(processes)] : [])],
});

function waysOf(shared: readonly string[]): Readonly<Record<string, Way>> {
  const byNodes = (processes: number, file: string): Way => ({
    processes,
    commands: processes,
    options: [file, ...shared],
  });
  return {
    'nginx, one process': byNginx(1),
    'nginx, 2 processes': byNginx(2),
    'nginx, 4 processes': byNginx(4),
    'one process': byWorkers(1, 'plain.yaml'),
    '2 workers': byWorkers(2, 'plain.yaml'),
    '4 workers': byWorkers(4, 'plain.yaml'),
    '2 nodes': byNodes(2, 'plain.yaml'),
    '4 nodes': byNodes(4, 'plain.yaml'),
    'one process, a limit': byWorkers(1, 'limited.yaml'),
    '2 workers, a limit': byWorkers(2, 'limited.yaml'),
    '4 workers, a limit': byWorkers(4, 'limited.yaml'),
    '2 nodes, a limit in Redis': byNodes(2, 'limited.yaml'),
    '4 nodes, a limit in Redis': byNodes(4, 'limited.yaml'),
  };
}

/** Serving processes, and where they take requests. */
interface Serving {
  readonly urls: readonly string[];
  readonly cpuMs: () => number;
  readonly stop: () => Promise<void>;
}

async function oursServing({ commands, options }: Way, folder: string): Promise<Serving> {
  const all: Running[] = [];
  const urls: string[] = [];
  for (let at = 0; at < commands; at++) {
    const running = startProgram(
      process.execPath,
      [MAIN, 'dev', ...options!, '--port', '0', '--no-watch'],
      folder,
    );
    all.push(running);
    urls.push((await running.waitFor(/ready in \d+ ms {2}(http:\S+)/))[1]!);
  }
  return {
    urls,
    cpuMs: () => all.reduce((sum, { process: { pid } }) => sum + cpuMs(pid!), 0),
    stop: async () => {
      for (const running of all) await running.stop('SIGTERM');
    },
  };
}

async function nginxServing({ processes }: Way, folder: string, upstreamPort: number): Promise<Serving> {
  const [port = 0] = await freePorts(1);
  const site = { port, tlsPort: 0, upstreamPort, folder, certificate: '', key: '' };
  const running = await start([whereIs('nginx')!, ...nginxArguments(site, false, { processes })], {
    core: null,
    logFile: join(folder, 'nginx.log'),
    ready: (hasEnded) => untilListening(port, hasEnded),
  });
  return {
    urls: [`http://127.0.0.1:${port}`],
    cpuMs: () => cpuMs(running.pid),
    stop: () => running.stop(),
  };
}

/** Requests per second of processor time. */
async function perCpuSecond(serving: Serving, processes: number, seconds: number): Promise<number> {
  const { urls, cpuMs: spent, stop } = serving;
  const connections = (CONNECTIONS * processes) / urls.length;
  try {
    // What is compiled first is not measured: each process compiles for itself, and they share the cores.
    await Promise.all(urls.map(async (url) => loaded(url, 2 * processes, connections)));
    const before = spent();
    const done = await Promise.all(urls.map(async (url) => loaded(url, seconds, connections)));
    const requests = done.reduce((sum, each) => sum + each, 0);
    return (1_000 * requests) / (spent() - before);
  } finally {
    await stop();
  }
}

/** Loads an address; the number of responses, all of which have to be good. */
async function loaded(url: string, forSeconds: number, connections: number): Promise<number> {
  const execute = promisify(execFile);
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${forSeconds}s`,
    '--timeout',
    '10s',
    '-H',
    'Host: shop.test',
    `${url}/1k`,
  ];
  const { stdout } = await execute('wrk', args);
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  return Number(requests);
}

function writeConfigs(folder: string, address: string): void {
  for (const [name, policy] of Object.entries({
    plain: {},
    limited: { traffic_policy: { value: LIMITED } },
  })) {
    const route = { match_type: 'path_prefix', match: '/', ...policy, backend: { backend_id: 'app' } };
    const https = { shop: { hostports: ['shop.test:443'], routes: [route] } };
    const config = { backends: { app: { static: { address } } }, edges: { https } };
    writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(config));
  }
}

function missing(): readonly string[] {
  const programs = ['wrk', 'nginx', 'cc'].filter((name) => whereIs(name) === null);
  return [
    ...programs,
    ...(REDIS_SERVER === null ? ['redis-server'] : []),
    ...(existsSync(MAIN) ? [] : [`${MAIN} (npm run build)`]),
  ];
}

export async function run(seconds = sized(5, 1), rounds = sized(3, 1)): Promise<BenchSection> {
  const title = 'Workers and nodes: requests per second of processor time, as a share of one process';
  const lacking = missing();
  if (lacking.length > 0) return { title, rows: [], notes: [`not measured: ${lacking.join(', ')} missing`] };
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-scaling-'));
  const [port = 0] = await freePorts(1);
  const upstream = await startUpstream(folder, port, null);
  writeConfigs(folder, `127.0.0.1:${port}`);
  const redis = await ownRedis();
  try {
    const ways = waysOf(['--shared', redis.url]);
    const found = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++)
      for (const [name, way] of Object.entries(ways)) {
        const serving = way.options === null ? nginxServing(way, folder, port) : oursServing(way, folder);
        found.get(name)!.push(await perCpuSecond(await serving, way.processes, seconds));
      }
    return {
      title,
      rows: rowsOf(ways, found),
      floors: ['nginx'],
      between: 'the main process of workers, shared counters, and the answers of Redis',
      notes: notesOf(ways, found),
    };
  } finally {
    await redis.close();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Ways = ReturnType<typeof waysOf>;
type Found = ReadonlyMap<string, readonly number[]>;

/** The name of nginx with as many processes. */
function nginxBeside(processes: number, ways: Ways): string {
  return Object.keys(ways).find(
    (name) => ways[name]!.options === null && ways[name]!.processes === processes,
  )!;
}

/** What each round found of a way, as a share of what it found of another. */
function shares(found: Found, of: string, to: string): number[] {
  return found.get(of)!.map((each, round) => each / found.get(to)![round]!);
}

/** Our ways, each as a share of one process of ours, beside what nginx has left with as many processes. */
function rowsOf(ways: Ways, found: Found): BenchRow[] {
  return Object.entries(ways).flatMap(([name, { options, processes }]) => {
    if (options === null) return [];
    const left = shares(found, nginxBeside(processes, ways), nginxBeside(1, ways));
    const own = shares(found, name, 'one process');
    const each = left.map((share, round) => share / own[round]!);
    return {
      name,
      ours: overBlocks(own).value,
      unit: '× one process',
      peers: { nginx: overBlocks(left).value },
      ratios: { nginx: [Math.min(...each), Math.max(...each)] as const },
    };
  });
}

function notesOf(ways: Ways, found: Found): string[] {
  const all = Object.keys(ways).map(
    (name) => `${name} ${Math.round(overBlocks(found.get(name)!).value).toLocaleString('en')}`,
  );
  const beside = rowsOf(ways, found).map(
    ({ name, ours, peers }) => `${name} ${(ours / peers['nginx']!).toFixed(2)}`,
  );
  const [least] = found.values();
  return [
    `relative to what nginx has left with as many processes: ${beside.join(', ')}`,
    `requests per second of a core: ${all.join('; ')}`,
    `medians of ${least!.length} rounds, in each of which all took their turn; load and upstream share the cores with them; ${CONNECTIONS} connections for each process`,
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [seconds, rounds] = process.argv.slice(2).map(Number);
  process.stdout.write(render(await run(seconds, rounds)));
}
