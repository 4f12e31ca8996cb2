import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import type { BenchSection } from '../measure.ts';
import { CONTESTANTS } from './contestants.ts';
import { missingPrograms } from './load.ts';
import { type Measured, measure } from './measuring.ts';
import { benchRows, tableOf } from './report.ts';
import { standing } from './standing.ts';
import { surroundings } from './surroundings.ts';
import { QUICK, WORKLOADS } from './workloads.ts';

const USAGE = `node bench/ingress/run.ts [--quick] [--rounds 5] [--seconds 4] [--connections 64]
  [--only 'edgeproof;nginx'] [--workloads '1 kB GET;10 kB POST'] [--tree <folder of sources>] [--idle 10000] [--no-standing]`;

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly only: ReadonlySet<string> | null;
  readonly workloads: ReadonlySet<string> | null;
  readonly tree: string | undefined;
  /** Idle connections of the memory figure; 0: leave start and memory out. */
  readonly idle: number;
}

function setOf(list: string | undefined): ReadonlySet<string> | null {
  return list === undefined ? null : new Set(list.split(';').map((name) => name.trim()));
}

function settingsOf(args: readonly string[]): Settings {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      help: { type: 'boolean' },
      'no-standing': { type: 'boolean' },
      rounds: text,
      seconds: text,
      connections: text,
      only: text,
      workloads: text,
      tree: text,
      idle: text,
    },
  });
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  const quick = values.quick === true;
  return {
    rounds: Number(values.rounds ?? (quick ? 3 : 5)),
    seconds: Number(values.seconds ?? (quick ? 2 : 4)),
    connections: Number(values.connections ?? 64),
    only: setOf(values.only) ?? (quick ? new Set(['edgeproof', 'nginx', 'haproxy']) : null),
    workloads: setOf(values.workloads) ?? (quick ? QUICK : null),
    tree: values.tree,
    idle: values['no-standing'] === true || quick ? 0 : Number(values.idle ?? 10_000),
  };
}

async function measureAll(
  settings: Settings,
  say: (line: string) => void,
): Promise<{ measured: Measured; notes: string[] }> {
  const missing = missingPrograms();
  if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
  const around = await surroundings(settings.tree);
  try {
    const { rounds, seconds, connections } = settings;
    const plan = {
      contestants: CONTESTANTS.filter(({ name }) => settings.only?.has(name) ?? true),
      workloads: WORKLOADS.filter(({ name }) => settings.workloads?.has(name) ?? true),
      rounds,
      seconds,
      // A machine that compiles while it runs is measured once it has.
      warmUpSeconds: 2,
      connections,
      say,
    };
    const [busyBefore = 0] = loadavg();
    const measured = await measure(plan, around);
    const notes = [
      `medians of ${rounds} interleaved rounds of ${seconds} s, ${connections} connections; in brackets the middle half of the rounds`,
      `load average of the machine before: ${busyBefore.toFixed(1)}; where it is not near 0, compare CPU only, and that with care`,
      'ours makes its event object in every row, and writes it where all is on; nginx and HAProxy have no ten rules',
    ];
    if (settings.idle > 0) {
      for (const { name, startMs, idleRssMb, idleConnections } of await standing(
        around,
        rounds,
        settings.idle,
      )) {
        notes.push(
          `${name}: ${startMs?.toFixed(0) ?? '?'} ms to the first proxied byte; ${idleRssMb.toFixed(0)} MB with ${idleConnections} idle connections and load`,
        );
      }
    }
    return { measured, notes };
  } finally {
    around.close();
  }
}

/** The section of `npm run bench`: CPU time a request, short. */
export async function run(): Promise<BenchSection> {
  const title = 'Ingress, one core: CPU a request (node bench/ingress/run.ts has the whole)';
  const missing = missingPrograms();
  if (missing.length > 0) return { title, rows: [], notes: [`skipped: ${missing.join(', ')} missing`] };
  const { measured, notes } = await measureAll(settingsOf(['--quick']), () => undefined);
  return { title, rows: benchRows(measured), notes };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { measured, notes } = await measureAll(settingsOf(process.argv.slice(2)), (line) =>
    process.stderr.write(`${line}\n`),
  );
  for (const workload of measured.workloads) process.stdout.write(`\n${tableOf(measured, workload)}\n`);
  process.stdout.write(`\n${notes.map((note) => `  ${note}`).join('\n')}\n`);
}
