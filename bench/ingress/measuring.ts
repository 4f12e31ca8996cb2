import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { type Contestant, eventsFileOf, startContestant } from './contestants.ts';
import { watchCore } from './cores.ts';
import { type LoadResult, hasH2load, load } from './load.ts';
import { type Running, cpuMs, rssMb } from './processes.ts';
import type { Site } from './servers.ts';
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
 * Measures in rounds; in each all contestants take their turns with each workload, each alone on the machine, and the order
 * moves on by one, so that what else happens on the machine hits all alike. A contestant runs through all rounds: it is
 * started, checked and warmed up once.
 */
export async function measure(plan: Plan, around: Surroundings): Promise<Measured> {
  const cells = new Cells();
  for (const contestant of plan.contestants)
    for (const workload of plan.workloads) {
      const why = contestant.missing() ?? unable(contestant, workload);
      if (why !== null) cells.skip(workload, contestant.name, why);
    }
  const upstream = await around.startUpstream();
  try {
    // Fewer wait at a time, and fewer files of events grow.
    for (const allOn of [false, true]) await measureGroup(allOn, cells, plan, around);
  } finally {
    await upstream.stop();
  }
  return {
    contestants: plan.contestants,
    workloads: plan.workloads,
    cell: (workload, contestant) => cells.cell(workload, contestant),
  };
}

/** What was measured so far, and what was not. */
class Cells {
  readonly #samples = new Map<string, Sample[]>();
  readonly #skipped = new Map<string, string>();

  skip(workload: Workload, contestant: string, why: string): void {
    this.#skipped.set(keyOf(workload, contestant), why);
  }

  add(workload: Workload, contestant: string, sample: Sample): void {
    const key = keyOf(workload, contestant);
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
  }

  isOpen(workload: Workload, contestant: string): boolean {
    return !this.#skipped.has(keyOf(workload, contestant));
  }

  cell(workload: Workload, contestant: string): Cell {
    const key = keyOf(workload, contestant);
    const why = this.#skipped.get(key);
    return why === undefined ? (this.#samples.get(key) ?? []) : { skipped: why };
  }
}

/** A contestant that runs. */
interface Entrant {
  readonly contestant: Contestant;
  readonly workloads: readonly Workload[];
  readonly running: Running;
  readonly site: Site;
  /** Requests that it has answered. */
  answered: number;
}

async function measureGroup(allOn: boolean, cells: Cells, plan: Plan, around: Surroundings): Promise<void> {
  const entrants: Entrant[] = [];
  try {
    for (const contestant of plan.contestants) {
      const entrant = await entered(contestant, allOn, cells, plan, around);
      if (entrant !== null) entrants.push(entrant);
    }
    for (let round = 0; round < plan.rounds; round++) {
      plan.say(`${allOn ? 'all on, ' : ''}round ${round + 1} of ${plan.rounds}`);
      const turn = round % Math.max(1, entrants.length);
      const order = [...entrants.slice(turn), ...entrants.slice(0, turn)];
      // One workload after the other: the samples that are compared are of the same minute.
      for (const workload of plan.workloads) await turnsOf(workload, order, cells, plan, around);
    }
  } finally {
    for (const { running } of entrants) await running.stop();
  }
  if (allOn) for (const entrant of entrants) countEvents(entrant, cells);
}

async function turnsOf(
  workload: Workload,
  order: readonly Entrant[],
  cells: Cells,
  plan: Plan,
  around: Surroundings,
): Promise<void> {
  for (const entrant of order) {
    const { name } = entrant.contestant;
    if (!entrant.workloads.includes(workload) || !cells.isOpen(workload, name)) continue;
    const { sample, requests } = await sampleOf(workload, entrant, plan, around);
    if (requests < LEAST_REQUESTS) cells.skip(workload, name, `no more than ${requests} answers`);
    else cells.add(workload, name, sample);
  }
}

/** Starts, checks and warms up a contestant; null if it has nothing to do, or does not start. */
async function entered(
  contestant: Contestant,
  allOn: boolean,
  cells: Cells,
  plan: Plan,
  around: Surroundings,
): Promise<Entrant | null> {
  const { name } = contestant;
  const workloads = plan.workloads.filter(
    (workload) => workload.allOn === allOn && cells.isOpen(workload, name),
  );
  if (workloads.length === 0) return null;
  plan.say(`${name}${allOn ? ', all on' : ''}: starts`);
  const own = await around.siteFor(`${name}${allOn ? '_all_on' : ''}`);
  const needsTls = workloads.some(({ protocol }) => protocol !== 'http1');
  const site = needsTls ? own : { ...own, tlsPort: 0 };
  let running: Running;
  try {
    running = await startContestant(contestant, site, { allOn, built: around.built, core: around.proxyCore });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    plan.say(message);
    const why = message.slice(0, `${message}\n`.indexOf('\n'));
    for (const workload of workloads) cells.skip(workload, name, why);
    return null;
  }
  const entrant: Entrant = { contestant, workloads, running, site, answered: 0 };
  for (const [index, workload] of workloads.entries()) {
    const fault = await verify(workload, { port: portOf(workload, site), upstreamPort: site.upstreamPort });
    if (fault !== null) {
      plan.say(`${name}, ${workload.name}: ${fault}`);
      cells.skip(workload, name, fault);
    } else await warmUp(workload, entrant, index === 0, plan, around);
  }
  return entrant;
}

function portOf({ protocol }: Workload, { port, tlsPort }: Site): number {
  return protocol === 'http1' ? port : tlsPort;
}

/** Where all is on, each answer must have left an event; the file is removed, because it is large. */
function countEvents({ contestant: { name }, workloads, site, answered }: Entrant, cells: Cells): void {
  const written = linesOf(eventsFileOf(site));
  rmSync(eventsFileOf(site), { force: true });
  if (written >= answered) return;
  for (const workload of workloads) cells.skip(workload, name, `${written} events of ${answered} requests`);
}

function unable({ abilities, only }: Contestant, workload: Workload): string | null {
  const { needs, protocol } = workload;
  if (only?.(workload) === false) return 'not asked for this';
  const lacking = needs.find((need) => !abilities.includes(need));
  if (lacking !== undefined) return lacking === 'everything' ? 'not set up for all modules' : `no ${lacking}`;
  return protocol === 'http2' && !hasH2load() ? 'h2load is not installed' : null;
}

/** A sample with fewer responses is invalid, because others used the core. It is repeated. */
const LEAST_REQUESTS = 100;
const ATTEMPTS = 3;

/**
 * What is compiled while it runs is ready after so many requests: until then a thread that compiles has the proxy's core
 * now and then for some 10 ms, which the slowest percent of answers shows. It takes long where the machine is busy. Most
 * code serves all workloads, so that further ones take one turn.
 */
const WARM_REQUESTS = 100_000;
const WARM_TURNS = 4;
const WARM_SECONDS = 2;

async function warmUp(
  workload: Workload,
  entrant: Entrant,
  isFirst: boolean,
  plan: Plan,
  around: Surroundings,
): Promise<void> {
  const { compiles } = entrant.contestant;
  const turns = compiles && isFirst ? WARM_TURNS : 1;
  for (let turn = 0; turn < turns && (turn === 0 || entrant.answered < WARM_REQUESTS); turn++)
    await loaded(workload, entrant, compiles ? WARM_SECONDS : 1, plan, around);
}

async function loaded(
  workload: Workload,
  entrant: Entrant,
  seconds: number,
  { connections }: Plan,
  { loadCore: core, sockets, folder }: Surroundings,
): Promise<LoadResult> {
  const port = portOf(workload, entrant.site);
  const result = await load(workload, port, { core, connections, sockets, folder, seconds });
  entrant.answered += result.requests;
  return result;
}

async function sampleOf(
  workload: Workload,
  entrant: Entrant,
  plan: Plan,
  around: Surroundings,
): Promise<{ readonly sample: Sample; readonly requests: number }> {
  const { pid } = entrant.running;
  for (let attempt = 1; ; attempt++) {
    const before = cpuMs(pid);
    const [proxyWatch, loadWatch] = [watchCore(around.proxyCore), watchCore(around.loadCore)];
    const result = await loaded(workload, entrant, plan.seconds, plan, around);
    const loadShares = loadWatch(0);
    const takenMs = cpuMs(pid) - before;
    if (result.requests < LEAST_REQUESTS && attempt < ATTEMPTS) continue;
    const sample = {
      ...figuresOf(result, takenMs),
      rssMb: rssMb(pid),
      loadIdle: loadShares?.idle ?? null,
      foreign: proxyWatch(takenMs)?.foreign ?? null,
    };
    return { sample, requests: result.requests };
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
