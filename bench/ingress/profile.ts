import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtOf } from './build.ts';
import { CONTESTANTS, type Contestant, OURS_NAME, startContestant } from './contestants.ts';
import { type CpuProfile, folderTimes, functionTimes } from './cpu_profile.ts';
import { type LoadResult, load, missingPrograms } from './load.ts';
import { type CpuTimes, type Running, cpuTimes, endWithUs, whereIs } from './processes.ts';
import { type Table, textOf } from './report.ts';
import { type Settings, settingsOf } from './settings.ts';
import { type Surroundings, surroundings } from './surroundings.ts';
import { verify } from './verify.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/**
 * Where the time of ours goes under each workload: `node bench/ingress/profile.ts --workload get_1k`, with the arguments
 * of `npm run bench -- ingress`. Functions come from --cpu-prof, system calls from strace, where it is there, in a run of
 * its own.
 */
const FUNCTIONS_SHOWN = 40;
const FOLDERS_SHOWN = 15;
const CALLS_SHOWN = 12;
const SAMPLE_MICROS = 500;
const WARM_SECONDS = 3;

const ours = CONTESTANTS.find(({ name }) => name === OURS_NAME)!;

/** A warm run of our edge under a workload. */
interface Run {
  readonly result: LoadResult;
  readonly cpu: CpuTimes;
  readonly fromMicros: number;
  readonly toMicros: number;
}

const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

/** Runs a contestant under a workload; `during` is called when it is warm, and what it gives when the load is over. */
async function runUnder(
  contestant: Contestant,
  workload: Workload,
  settings: Settings,
  around: Surroundings,
  during: (running: Running) => Promise<() => Promise<void>> = () => Promise.resolve(() => Promise.resolve()),
): Promise<Run> {
  const { built, proxyCore: core, loadCore, sockets, folder } = around;
  const isPlain = workload.protocol === 'http1';
  const site = isPlain ? { ...around.site, tlsPort: 0 } : around.site;
  const port = isPlain ? site.port : site.tlsPort;
  const running = await startContestant(contestant, site, { allOn: workload.allOn, built, core });
  try {
    const fault = await verify(workload, { port, upstreamPort: site.upstreamPort });
    if (fault !== null) throw new Error(`${workload.name}: ${fault}`);
    const options = { core: loadCore, connections: settings.connections, sockets, folder };
    await load(workload, port, { ...options, seconds: WARM_SECONDS });
    const over = await during(running);
    const [before, fromMicros] = [cpuTimes(running.pid), monotonicMicros()];
    const result = await load(workload, port, { ...options, seconds: settings.seconds });
    const [after, toMicros] = [cpuTimes(running.pid), monotonicMicros()];
    await over();
    const cpu = { userMs: after.userMs - before.userMs, systemMs: after.systemMs - before.systemMs };
    return { result, cpu, fromMicros, toMicros };
  } finally {
    await running.stop();
  }
}

// --- functions -----------------------------------------------------------------------------------------------

async function functions(workload: Workload, settings: Settings, around: Surroundings): Promise<Table[]> {
  const flags = ['--cpu-prof', `--cpu-prof-dir=${around.folder}`, `--cpu-prof-interval=${SAMPLE_MICROS}`];
  const profiled: Contestant = {
    ...ours,
    command: (...given) => ours.command(...given).toSpliced(1, 0, ...flags),
  };
  const { result, fromMicros, toMicros } = await runUnder(profiled, workload, settings, around);
  const name = readdirSync(around.folder).find((file) => file.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error('Node has written no profile');
  const file = join(around.folder, name);
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  rmSync(file);
  const times = functionTimes(profile, fromMicros, toMicros);
  const all = times.reduce((sum, { selfMs }) => sum + selfMs, 0);
  const share = (ms: number): string => `${((ms / all) * 100).toFixed(1)} %`;
  const each = (ms: number): string => ((ms * 1_000) / result.requests).toFixed(2);
  return [
    {
      title: `${workload.name}: self time by folder`,
      rows: [
        ['', 'share', 'µs each'],
        ...folderTimes(times)
          .slice(0, FOLDERS_SHOWN)
          .map(([folder, ms]) => [folder, share(ms), each(ms)]),
      ],
    },
    {
      title: `${workload.name}: functions by self time`,
      rows: [
        ['', 'share', 'µs each', 'with callees', 'place'],
        ...times
          .slice(0, FUNCTIONS_SHOWN)
          .map((time) => [time.name, share(time.selfMs), each(time.selfMs), share(time.totalMs), time.place]),
      ],
    },
  ];
}

// --- system calls --------------------------------------------------------------------------------------------

async function systemCalls(
  workload: Workload,
  settings: Settings,
  around: Surroundings,
): Promise<Table | null> {
  if (whereIs('strace') === null) return null;
  const output = join(around.folder, 'strace.txt');
  const { result } = await runUnder(ours, workload, settings, around, async ({ pid }) => {
    const strace = spawn('strace', ['-c', '-f', '-o', output, '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithUs(strace);
    const ended = once(strace, 'exit');
    await Promise.race([once(createInterface(strace.stderr), 'line'), ended]);
    return async () => {
      strace.kill('SIGINT');
      await ended;
    };
  });
  // % time, seconds, usecs/call, calls, errors (may be empty), syscall.
  const lines = readFileSync(output, 'utf8').matchAll(
    /^ *([\d.]+) +([\d.]+) +\d+ +(\d+) +(?:(\d+) +)?(\w+)$/gm,
  );
  const calls = [...lines].filter(([, , , , , name]) => name !== 'total');
  return {
    title: `${workload.name}: system calls, ${result.requests} requests under strace`,
    rows: [
      ['', 'a request', 'failed', 'share of system time'],
      ...calls
        .slice(0, CALLS_SHOWN)
        .map(([, share = '', , count, failed = '0', name = '']) => [
          name,
          (Number(count) / result.requests).toFixed(3),
          (Number(failed) / result.requests).toFixed(3),
          `${share} %`,
        ]),
    ],
  };
}

// --- all of it -----------------------------------------------------------------------------------------------

/** Prints the tables of one workload; the first line is of a run without profiling. */
async function profileOf(workload: Workload, settings: Settings, around: Surroundings): Promise<void> {
  const { result, cpu } = await runUnder(ours, workload, settings, around);
  const each = (ms: number): string => ((ms * 1_000) / Math.max(1, result.requests)).toFixed(1);
  const rate = Math.round(result.requests / result.seconds).toLocaleString('en');
  process.stdout.write(
    `\n${workload.name}: ${rate} requests/s, CPU ${each(cpu.userMs + cpu.systemMs)} µs each (user ${each(cpu.userMs)}, system ${each(cpu.systemMs)}), not watched\n`,
  );
  for (const table of await functions(workload, settings, around))
    process.stdout.write(`\n${textOf(table)}\n`);
  const calls = await systemCalls(workload, settings, around);
  process.stdout.write(`\n${calls === null ? 'strace is not installed' : textOf(calls)}\n`);
}

const settings = settingsOf(process.argv.slice(2));
const missing = missingPrograms();
if (typeof settings === 'string' || missing.length > 0) {
  process.stdout.write(`${typeof settings === 'string' ? settings : `missing: ${missing.join(', ')}`}\n`);
  process.exit(2);
}
const around = await surroundings(builtOf(settings.tree, settings.source));
const upstream = await around.startUpstream();
try {
  for (const workload of WORKLOADS.filter(({ id }) => settings.workloads?.has(id) ?? id === 'get_1k'))
    await profileOf(workload, settings, around);
} finally {
  await upstream.stop();
  around.close();
}
