import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import { type BenchSection, sized } from '../measure.ts';
import { builtBefore, builtOf } from './build.ts';
import { CONTESTANTS, OURS_NAME, oursBefore } from './contestants.ts';
import { samplesOf } from './figures.ts';
import { missingPrograms } from './load.ts';
import { type Measured, measure } from './measuring.ts';
import { IDLE_RSS_MB_AT_MOST, START_MS_AT_MOST } from './goals.ts';
import { benchRows, goalLines, markdownOf, tableOf, textOf, type Table } from './report.ts';
import { type Settings, settingsOf } from './settings.ts';
import { type Standing, standing } from './standing.ts';
import { surroundings } from './surroundings.ts';
import { WORKLOADS } from './workloads.ts';

interface Outcome {
  readonly measured: Measured;
  readonly standing: readonly Standing[];
  readonly notes: readonly string[];
}

async function measureAll(settings: Settings, say: (line: string) => void): Promise<Outcome> {
  const { rounds, seconds, connections, idle, before } = settings;
  const old = before === undefined ? [] : [oursBefore(builtBefore(before))];
  const around = await surroundings(builtOf(settings.tree, settings.source));
  try {
    const contestants = CONTESTANTS.filter(({ name }) => settings.only?.has(name) ?? true);
    const workloads = WORKLOADS.filter(({ id }) => settings.workloads?.has(id) ?? true);
    const plan = { contestants: [...contestants, ...old], workloads, rounds, seconds, connections, say };
    const [busyBefore = 0] = loadavg();
    const measured = await measure(plan, around);
    const notes = [
      `medians of ${rounds} interleaved rounds of ${seconds} s, ${connections} connections`,
      `load average of the machine before: ${busyBefore.toFixed(1)}; ${foreignNote(measured)}`,
      "load idle: share of its time that the core of load and upstream had nothing to do; near 0 the load is the limit; there, and where others took much of the proxy's core, goals are judged by CPU",
      'every answer and every request at the upstream was compared byte by byte before; where all is on, the events were counted',
      'an event is made and written where all is on; only ours has the ten rules; HAProxy compresses with libslz, which has no levels',
    ];
    return {
      measured,
      standing: idle > 0 ? await standing(contestants, around, { rounds, idle }) : [],
      notes,
    };
  } finally {
    around.close();
  }
}

function foreignNote(measured: Measured): string {
  const shares = measured.workloads
    .flatMap((workload) =>
      measured.contestants.flatMap(({ name }) => samplesOf(measured.cell(workload, name))),
    )
    .flatMap(({ foreign }) => foreign ?? [])
    .toSorted((one, other) => one - other);
  if (shares.length === 0) return 'one core for all';
  const [median, most] = [shares[shares.length >> 1]!, shares.at(-1)!].map((share) =>
    (share * 100).toFixed(0),
  );
  return `others took ${median} % of the proxy's core (at most ${most} %); where it is much, compare CPU only, and that with care`;
}

function standingGoal(name: string, value: number, most: number): string {
  return name === OURS_NAME ? `≤ ${most}: ${value <= most ? 'met' : 'missed'}` : '';
}

function standingTable(all: readonly Standing[]): Table {
  return {
    title: 'start, and memory with idle connections and load',
    rows: [
      ['', 'ms to the first proxied byte', 'goal', 'idle connections', 'RSS MB', 'goal of ours'],
      ...all.map(({ name, startMs, idleConnections, idleRssMb }) => [
        name,
        startMs.toFixed(0),
        standingGoal(name, startMs, START_MS_AT_MOST),
        String(idleConnections),
        idleRssMb.toFixed(0),
        standingGoal(name, idleRssMb, IDLE_RSS_MB_AT_MOST),
      ]),
    ],
  };
}

/** The section of `npm run bench`: CPU time per request. */
export async function run(): Promise<BenchSection> {
  const title = 'Ingress, one core: CPU a request';
  const missing = missingPrograms();
  if (missing.length > 0) return { title, rows: [], notes: [`skipped: ${missing.join(', ')} missing`] };
  const settings = settingsOf(sized(0, 1) === 1 ? ['--quick', '--rounds', '1'] : ['--idle', '0']);
  if (typeof settings === 'string') throw new Error(settings);
  const { measured, notes } = await measureAll(settings, () => undefined);
  return {
    title,
    rows: benchRows(measured),
    notes: [...goalLines(measured), ...notes],
    floors: ['splice', 'relay'],
    between:
      'reading the heads of both sides, choosing a route, and writing them again; with all on also the modules and the event',
  };
}

/** `npm run bench -- ingress <arguments>`: a table for each workload; returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const settings = settingsOf(args);
  if (typeof settings === 'string') {
    process.stdout.write(`${settings}\n`);
    return 2;
  }
  const missing = missingPrograms();
  if (missing.length > 0) {
    process.stdout.write(`skipped: ${missing.join(', ')} missing\n`);
    return 1;
  }
  const outcome = await measureAll(settings, (line) => void process.stderr.write(`${line}\n`));
  const notes = ['in brackets: the 95 % bootstrap interval of the median over the rounds', ...outcome.notes];
  const tables = outcome.measured.workloads.map((workload) => tableOf(outcome.measured, workload));
  if (outcome.standing.length > 0) tables.push(standingTable(outcome.standing));
  process.stdout.write(`\n${tables.map(textOf).join('\n\n')}\n\n`);
  process.stdout.write(`${notes.map((note) => `  ${note}`).join('\n')}\n`);
  if (settings.write !== undefined) writeFileSync(settings.write, pageOf(tables, notes));
  return 0;
}

function pageOf(tables: readonly Table[], notes: readonly string[]): string {
  const machine = `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${release()}`;
  return `# Ingress beside its peers

Written by \`npm run bench -- ingress --write <file>\`, all of one run. Proxy on one core, load and upstream on another.

${machine}

${notes.map((note) => `- ${note}`).join('\n')}

${tables.map(markdownOf).join('\n\n')}
`;
}
