import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HOST } from './everything_on.ts';
import { endWithUs, whereIs } from './processes.ts';
import { ADDRESSES, AGENTS, headersFor } from './requests.ts';
import { MIB, type Workload } from './workloads.ts';

/** The result of a load generator. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Time of a complete response; null if the generator does not report it. */
  readonly bytesEach: number | null;
  /** Responses other than 2xx, and broken connections. */
  readonly faults: number;
}

export interface LoadOptions {
  readonly core: number | null;
  readonly connections: number;
  readonly seconds: number;
  /** The library that is preloaded into wrk. */
  readonly sockets: string;
  /** For files written during a run. */
  readonly folder: string;
}

/** Loads a port for some seconds. */
export function load(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  return workload.protocol === 'http2' ? h2load(workload, port, options) : wrk(workload, port, options);
}

async function wrk(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  const scheme = workload.protocol === 'tls' ? 'https' : 'http';
  const script = join(import.meta.dirname, 'load.lua');
  const args = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '10s', '-s', script];
  const headers = headersFor(workload);
  const output = await run(
    ['wrk', ...args, `${scheme}://${HOST}:${port}`, '--', workload.path],
    options.core,
    {
      METHOD: workload.bodyBytes > 0 ? 'POST' : 'GET',
      BODY_BYTES: String(workload.bodyBytes),
      PER_CONNECTION: String(workload.perConnection),
      AGENTS: String(workload.varied ? AGENTS : 1),
      HEADERS: Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
      // One address has too few ports for one connection per request.
      SOURCES: String(workload.perConnection > 0 ? ADDRESSES : 0),
      LD_PRELOAD: options.sockets,
    },
  );
  const [, line] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (line === undefined) throw new Error(`wrk: ${output.slice(-500)}`);
  const told = JSON.parse(line) as Record<
    'requests' | 'microseconds' | 'bytes' | 'p50' | 'p99' | 'wrong' | 'broken' | 'late',
    number
  >;
  const requests = workload.countsMib ? Math.floor(told.bytes / MIB) : told.requests;
  return {
    requests,
    seconds: told.microseconds / 1e6,
    p50Ms: told.p50,
    p99Ms: told.p99,
    bytesEach: told.bytes / Math.max(1, requests),
    // A server may close a connection with its response if it was asked to.
    faults: told.wrong + told.late + (workload.perConnection > 0 ? 0 : told.broken),
  };
}

/** Concurrent requests on each HTTP/2 connection; there are correspondingly fewer connections. */
const STREAMS = 4;

async function h2load(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  const log = join(options.folder, 'h2load.log');
  rmSync(log, { force: true });
  const args = [
    '-t1',
    `-c${Math.max(1, Math.round(options.connections / STREAMS))}`,
    `-m${STREAMS}`,
    `-D${options.seconds}`,
    `--connect-to=127.0.0.1:${port}`,
    `--log-file=${log}`,
    ...Object.entries(headersFor(workload)).flatMap(([name, value]) =>
      name === 'Host' ? [] : ['-H', `${name.toLowerCase()}: ${value}`],
    ),
  ];
  const output = await run(['h2load', ...args, `https://${HOST}${workload.path}`], options.core, {});
  // A run of a second may end a little earlier.
  const [, time, unit] = /finished in ([\d.]+)(ms|s)/.exec(output) ?? [];
  const [, done, good] = /(\d+) done, (\d+) succeeded/.exec(output) ?? [];
  const [, right] = /status codes: (\d+) 2xx/.exec(output) ?? [];
  if (time === undefined || done === undefined) throw new Error(`h2load: ${output.slice(-500)}`);
  const times = readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : Number(line.split('\t')[2])))
    .toSorted((one, other) => one - other);
  const at = (share: number): number => (times[Math.floor((times.length - 1) * share)] ?? Number.NaN) / 1_000;
  return {
    requests: Number(done),
    seconds: Number(time) / (unit === 'ms' ? 1_000 : 1),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    bytesEach: null,
    faults: Number(done) - Math.min(Number(good), Number(right)),
  };
}

async function run(
  command: readonly string[],
  core: number | null,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const pinned = core === null ? command : ['taskset', '-c', String(core), ...command];
  const child = spawn(pinned[0]!, pinned.slice(1), { env: { ...process.env, ...environment } });
  endWithUs(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${command[0]} ended with ${code ?? signal}: ${output.slice(-500)}`);
  return output;
}

/** Required programs that are not installed. */
export function missingPrograms(): string[] {
  return ['wrk', 'taskset', 'cc'].filter((name) => whereIs(name) === null);
}

/** Whether HTTP/2 can be measured. */
export function hasH2load(): boolean {
  return whereIs('h2load') !== null;
}
