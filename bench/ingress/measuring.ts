import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { type Contestant, eventsFileOf, startContestant } from './contestants.ts';
import { watchCore } from './cores.ts';
import { type LoadOptions, type LoadResult, hasH2load, load } from './load.ts';
import { type Running, cpuMs, rssMb } from './processes.ts';
import type { Surroundings } from './surroundings.ts';
import { verify } from './verify.ts';
import type { Workload } from './workloads.ts';

/** One contestant under one workload in one round. */
export interface Sample {
  readonly perSecond: number;
  readonly cpuMicrosEach: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssMb: number;
  readonly bytesEach: number | null;
  readonly faults: number;
  /** Share of time in which the core of load and upstream was idle; null if there is no such core. */
  readonly loadIdle: number | null;
  /** Share of the proxy's core that other processes used. */
  readonly foreign: number | null;
}

/** Samples by round, or why there are none. */
export type Cell = readonly Sample[] | { readonly skipped: string };

export interface Measured {
  readonly contestants: readonly Contestant[];
  readonly workloads: readonly Workload[];
  cell(workload: Workload, contestant: string): Cell;
}

export interface Plan {
  readonly contestants: readonly Contestant[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly say: (line: string) => void;
}

const keyOf = (workload: Workload, contestant: string): string => `${workload.id}\n${contestant}`;

/**
 * Measures in rounds; in each all contestants take their turns, each alone on the machine, and the order moves on by
 * one, so that what else happens on the machine hits all alike.
 */
export async function measure(plan: Plan, around: Surroundings): Promise<Measured> {
  const samples = new Map<string, Sample[]>();
  const skipped = new Map<string, string>();
  for (const contestant of plan.contestants) {
    for (const workload of plan.workloads) {
      const why = contestant.missing() ?? unable(contestant, workload);
      if (why !== null) skipped.set(keyOf(workload, contestant.name), why);
    }
  }
  const note = (contestant: string, taken: Iterable<Taken>): void => {
    for (const [workload, sample] of taken) {
      const key = keyOf(workload, contestant);
      if ('skipped' in sample) skipped.set(key, sample.skipped);
      else samples.set(key, [...(samples.get(key) ?? []), sample]);
    }
  };
  const upstream = await around.startUpstream();
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const turn = round % plan.contestants.length;
      const order = [...plan.contestants.slice(turn), ...plan.contestants.slice(0, turn)];
      for (const contestant of order) {
        plan.say(`round ${round + 1} of ${plan.rounds}: ${contestant.name}`);
        for (const allOn of [false, true]) {
          const workloads = plan.workloads.filter(
            (workload) => workload.allOn === allOn && !skipped.has(keyOf(workload, contestant.name)),
          );
          note(contestant.name, await turnOf({ contestant, workloads, allOn }, plan, around));
        }
      }
    }
  } finally {
    await upstream.stop();
  }
  return {
    contestants: plan.contestants,
    workloads: plan.workloads,
    cell(workload, contestant) {
      const key = keyOf(workload, contestant);
      const why = skipped.get(key);
      return why === undefined ? (samples.get(key) ?? []) : { skipped: why };
    },
  };
}

function unable({ abilities, only }: Contestant, workload: Workload): string | null {
  const { needs, protocol } = workload;
  if (only?.(workload) === false) return 'not asked for this';
  const lacking = needs.find((need) => !abilities.includes(need));
  if (lacking !== undefined) return lacking === 'everything' ? 'not set up for all modules' : `no ${lacking}`;
  return protocol === 'http2' && !hasH2load() ? 'h2load is not installed' : null;
}

interface Turn {
  readonly contestant: Contestant;
  readonly workloads: readonly Workload[];
  readonly allOn: boolean;
}

type Taken = readonly [Workload, Sample | { readonly skipped: string }];

/** All workloads of one start of one contestant. */
async function turnOf(
  { contestant, workloads, allOn }: Turn,
  plan: Plan,
  around: Surroundings,
): Promise<readonly Taken[]> {
  if (workloads.length === 0) return [];
  const { built, proxyCore: core } = around;
  const needsTls = workloads.some(({ protocol }) => protocol !== 'http1');
  const site = needsTls ? around.site : { ...around.site, tlsPort: 0 };
  const taken: Taken[] = [];
  let running: Running;
  let answered = 0;
  try {
    running = await startContestant(contestant, site, { allOn, built, core });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    plan.say(message);
    const skipped = message.slice(0, `${message}\n`.indexOf('\n'));
    return workloads.map((workload) => [workload, { skipped }]);
  }
  try {
    for (const workload of workloads) {
      const port = workload.protocol === 'http1' ? site.port : site.tlsPort;
      const fault = await verify(workload, { port, upstreamPort: site.upstreamPort });
      if (fault !== null) {
        plan.say(`${contestant.name}, ${workload.name}: ${fault}`);
        taken.push([workload, { skipped: fault }]);
        continue;
      }
      const one = { running, contestant };
      const { sample, requests, all } = await sampleOf(workload, port, one, plan, around);
      answered += all;
      const few = requests < LEAST_REQUESTS ? { skipped: `no more than ${requests} answers` } : null;
      taken.push([workload, few ?? sample]);
    }
  } finally {
    await running.stop();
  }
  const written = allOn ? linesOf(eventsFileOf(site)) : answered;
  if (written >= answered) return taken;
  const skipped = `${written} events of ${answered} requests`;
  return taken.map(([workload]) => [workload, { skipped }]);
}

/** A sample with fewer responses is invalid, because others used the core. It is repeated. */
const LEAST_REQUESTS = 100;
const ATTEMPTS = 3;

/**
 * What is compiled while it runs is ready after so many requests: until then a thread that compiles has the proxy's core
 * now and then for some 10 ms, which the slowest percent of answers shows. It takes long where the machine is busy.
 */
const WARM_REQUESTS = 100_000;
const WARM_TURNS = 4;
const WARM_SECONDS = 2;

/** Returns the number of requests it took. */
async function warmUp(
  workload: Workload,
  port: number,
  { compiles }: Contestant,
  options: Omit<LoadOptions, 'seconds'>,
): Promise<number> {
  if (!compiles) return (await load(workload, port, { ...options, seconds: 1 })).requests;
  let sent = 0;
  for (let turn = 0; turn < WARM_TURNS && sent < WARM_REQUESTS; turn++) {
    sent += (await load(workload, port, { ...options, seconds: WARM_SECONDS })).requests;
  }
  return sent;
}

async function sampleOf(
  workload: Workload,
  port: number,
  { running, contestant }: { readonly running: Running; readonly contestant: Contestant },
  plan: Plan,
  around: Surroundings,
): Promise<{ readonly sample: Sample; readonly requests: number; readonly all: number }> {
  const { loadCore, proxyCore, sockets, folder } = around;
  const options = { core: loadCore, connections: plan.connections, sockets, folder };
  let all = await warmUp(workload, port, contestant, options);
  for (let attempt = 1; ; attempt++) {
    const before = cpuMs(running.pid);
    const [proxyWatch, loadWatch] = [watchCore(proxyCore), watchCore(loadCore)];
    const result = await load(workload, port, { ...options, seconds: plan.seconds });
    const loadShares = loadWatch(0);
    const takenMs = cpuMs(running.pid) - before;
    all += result.requests;
    if (result.requests < LEAST_REQUESTS && attempt < ATTEMPTS) continue;
    const sample = {
      ...figuresOf(result, takenMs),
      rssMb: rssMb(running.pid),
      loadIdle: loadShares?.idle ?? null,
      foreign: proxyWatch(takenMs)?.foreign ?? null,
    };
    return { sample, requests: result.requests, all };
  }
}

function figuresOf({ requests, seconds, ...seen }: LoadResult, takenMs: number) {
  return { ...seen, perSecond: requests / seconds, cpuMicrosEach: (takenMs * 1_000) / Math.max(1, requests) };
}

/** Number of lines of a file, which may be larger than memory. */
function linesOf(path: string): number {
  if (!existsSync(path)) return 0;
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let lines = 0;
  for (let got = readSync(file, buffer); got > 0; got = readSync(file, buffer)) {
    for (let at = buffer.indexOf(10); at >= 0 && at < got; at = buffer.indexOf(10, at + 1)) lines++;
  }
  closeSync(file);
  return lines;
}
