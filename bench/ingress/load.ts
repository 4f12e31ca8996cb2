import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { HOST } from './everything_on.ts';
import { whereIs } from './processes.ts';
import type { Workload } from './workloads.ts';

/** What a load generator saw. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  /** Null where the generator does not tell. */
  readonly p99Ms: number | null;
  /** Answers that were not 2xx, and connections that broke. */
  readonly faults: number;
}

export interface LoadOptions {
  readonly core: number | null;
  readonly connections: number;
  readonly seconds: number;
  /** A library that gives each connection a source address of its own; null: none. */
  readonly sourceAddresses: string | null;
}

const AGENTS = 2_000;

/** Loads a port for some seconds. */
export function load(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  return workload.protocol === 'http2' ? h2load(workload, port, options) : wrk(workload, port, options);
}

async function wrk(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  const scheme = workload.protocol === 'tls' ? 'https' : 'http';
  const script = join(import.meta.dirname, 'load.lua');
  const args = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '10s', '-s', script];
  const environment: Record<string, string> = {
    BODY_BYTES: String(workload.bodyBytes),
    CLOSE: workload.newConnections ? '1' : '0',
    GZIP: workload.gzip ? '1' : '0',
    AGENTS: String(workload.varied ? AGENTS : 1),
    HOST,
    ...(workload.varied && options.sourceAddresses !== null && { LD_PRELOAD: options.sourceAddresses }),
  };
  const output = await run(
    ['wrk', ...args, `${scheme}://127.0.0.1:${port}`, '--', workload.path],
    options.core,
    environment,
  );
  const [, line] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (line === undefined) throw new Error(`wrk: ${output.slice(-500)}`);
  const told = JSON.parse(line) as Record<
    'requests' | 'microseconds' | 'p50' | 'p99' | 'wrong' | 'broken' | 'late',
    number
  >;
  return {
    requests: told.requests,
    seconds: told.microseconds / 1e6,
    p50Ms: told.p50,
    p99Ms: told.p99,
    // A server may close a connection with its reply, where each request has its own.
    faults: told.wrong + told.late + (workload.newConnections ? 0 : told.broken),
  };
}

async function h2load(workload: Workload, port: number, options: LoadOptions): Promise<LoadResult> {
  const args = [
    '-t1',
    `-c${options.connections}`,
    '-m4',
    `-D${options.seconds}`,
    '-H',
    `:authority: ${HOST}`,
  ];
  const output = await run(
    ['h2load', ...args, `https://127.0.0.1:${port}${workload.path}`],
    options.core,
    {},
  );
  const [, seconds, rate] = /finished in ([\d.]+)s, ([\d.]+) req\/s/.exec(output) ?? [];
  const [, failed, errored, late] = /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(output) ?? [];
  const [, mean, unit] = /time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)/.exec(output) ?? [];
  if (seconds === undefined || mean === undefined) throw new Error(`h2load: ${output.slice(-500)}`);
  return {
    requests: Number(rate) * Number(seconds),
    seconds: Number(seconds),
    p50Ms: Number(mean) * (unit === 'us' ? 0.001 : unit === 'ms' ? 1 : 1_000),
    p99Ms: null,
    faults: Number(failed) + Number(errored) + Number(late),
  };
}

async function run(
  command: readonly string[],
  core: number | null,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const pinned = core === null ? command : ['taskset', '-c', String(core), ...command];
  const child = spawn(pinned[0]!, pinned.slice(1), { env: { ...process.env, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${command[0]}: ${output.slice(-500)}`);
  return output;
}

/** Programs that the benchmark cannot do without, as far as they are missing. */
export function missingPrograms(): string[] {
  return ['wrk', 'taskset'].filter((name) => whereIs(name) === null);
}

/** Whether HTTP/2 can be measured. */
export function hasH2load(): boolean {
  return whereIs('h2load') !== null;
}
