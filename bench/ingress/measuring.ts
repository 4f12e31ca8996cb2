import { type Contestant, startContestant } from './contestants.ts';
import { type LoadOptions, hasH2load, load } from './load.ts';
import { type Running, cpuMs, rssMb } from './processes.ts';
import type { Surroundings } from './surroundings.ts';
import { verify } from './verify.ts';
import type { Workload } from './workloads.ts';

/** One contestant under one workload in one round. */
export interface Sample {
  readonly perSecond: number;
  readonly cpuMicrosEach: number;
  readonly p50Ms: number;
  readonly p99Ms: number | null;
  readonly rssMb: number;
  readonly faults: number;
}

/** Samples by round, or why there are none. */
export type Cell = readonly Sample[] | { readonly skipped: string };

export interface Measured {
  readonly contestants: readonly string[];
  readonly workloads: readonly string[];
  cell(workload: string, contestant: string): Cell;
}

export interface Plan {
  readonly contestants: readonly Contestant[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  readonly say: (line: string) => void;
}

const keyOf = (workload: string, contestant: string): string => `${workload}\n${contestant}`;

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
      if (why !== null) skipped.set(keyOf(workload.name, contestant.name), why);
    }
  }
  const upstream = await around.startUpstream();
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const turn = round % plan.contestants.length;
      const order = [...plan.contestants.slice(turn), ...plan.contestants.slice(0, turn)];
      for (const contestant of order) {
        plan.say(`round ${round + 1} of ${plan.rounds}: ${contestant.name}`);
        for (const allOn of [false, true]) {
          const workloads = plan.workloads.filter(
            (workload) => workload.allOn === allOn && !skipped.has(keyOf(workload.name, contestant.name)),
          );
          const taken = await turnOf(contestant, workloads, allOn, plan, around);
          for (const [name, sample] of taken) {
            const key = keyOf(name, contestant.name);
            if ('skipped' in sample) skipped.set(key, sample.skipped);
            else samples.set(key, [...(samples.get(key) ?? []), sample]);
          }
        }
      }
    }
  } finally {
    await upstream.stop();
  }
  return {
    contestants: plan.contestants.map(({ name }) => name),
    workloads: plan.workloads.map(({ name }) => name),
    cell(workload, contestant) {
      const key = keyOf(workload, contestant);
      const why = skipped.get(key);
      return why === undefined ? (samples.get(key) ?? []) : { skipped: why };
    },
  };
}

function unable({ abilities }: Contestant, { needs, protocol }: Workload): string | null {
  const lacking = needs.find((need) => !abilities.includes(need));
  if (lacking !== undefined) return lacking === 'everything' ? 'not set up for this' : `no ${lacking} yet`;
  return protocol === 'http2' && !hasH2load() ? 'h2load is not installed' : null;
}

/** All workloads of one start of one contestant. */
async function turnOf(
  contestant: Contestant,
  workloads: readonly Workload[],
  allOn: boolean,
  plan: Plan,
  around: Surroundings,
): Promise<[string, Sample | { skipped: string }][]> {
  if (workloads.length === 0) return [];
  const { built, proxyCore: core } = around;
  const needsTls = workloads.some(({ protocol }) => protocol !== 'http1');
  const site = needsTls ? around.site : { ...around.site, tlsPort: 0 };
  const taken: [string, Sample | { skipped: string }][] = [];
  let running: Running;
  try {
    running = await startContestant(contestant, site, { allOn, built, core });
  } catch (error) {
    const skipped = error instanceof Error ? error.message : String(error);
    plan.say(skipped);
    return workloads.map(({ name }) => [name, { skipped: skipped.slice(0, skipped.indexOf('\n')) }]);
  }
  try {
    for (const workload of workloads) {
      const port = workload.protocol === 'http1' ? site.port : site.tlsPort;
      const fault = await verify(workload, port);
      taken.push([
        workload.name,
        fault === null
          ? await sampleOf(workload, port, { pid: running.pid, compiles: contestant.compiles }, plan, around)
          : { skipped: fault },
      ]);
    }
  } finally {
    await running.stop();
  }
  return taken;
}

/** What is compiled while it runs is ready after so many requests, which takes long where the machine is busy. */
const WARM_REQUESTS = 25_000;
const WARM_TURNS = 3;

async function warmUp(
  workload: Workload,
  port: number,
  seconds: number,
  options: Omit<LoadOptions, 'seconds'>,
): Promise<void> {
  let sent = 0;
  for (let turn = 0; turn < WARM_TURNS && sent < WARM_REQUESTS; turn++) {
    sent += (await load(workload, port, { ...options, seconds })).requests;
  }
}

async function sampleOf(
  workload: Workload,
  port: number,
  { pid, compiles }: { readonly pid: number; readonly compiles: boolean },
  plan: Plan,
  around: Surroundings,
): Promise<Sample> {
  const options = {
    core: around.loadCore,
    connections: plan.connections,
    sourceAddresses: around.sourceAddresses,
  };
  if (compiles) await warmUp(workload, port, plan.warmUpSeconds, options);
  else await load(workload, port, { ...options, seconds: 1 });
  const before = cpuMs(pid);
  const { requests, seconds, p50Ms, p99Ms, faults } = await load(workload, port, {
    ...options,
    seconds: plan.seconds,
  });
  const cpuMicrosEach = ((cpuMs(pid) - before) * 1_000) / Math.max(1, requests);
  return { perSecond: requests / seconds, cpuMicrosEach, p50Ms, p99Ms, rssMb: rssMb(pid), faults };
}
