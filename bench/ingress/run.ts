import { loadavg } from 'node:os';
import type { BenchSection } from '../measure.ts';
import { builtOf } from './build.ts';
import { CONTESTANTS } from './contestants.ts';
import { missingPrograms } from './load.ts';
import { type Measured, measure } from './measuring.ts';
import { benchRows, tableOf } from './report.ts';
import { type Settings, settingsOf } from './settings.ts';
import { standing } from './standing.ts';
import { surroundings } from './surroundings.ts';
import { WORKLOADS } from './workloads.ts';

async function measureAll(
  settings: Settings,
  say: (line: string) => void,
): Promise<{ measured: Measured; notes: string[] }> {
  const missing = missingPrograms();
  if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
  const around = await surroundings(builtOf(settings.tree, settings.source));
  try {
    const { rounds, seconds, connections } = settings;
    const plan = {
      contestants: CONTESTANTS.filter(({ name }) => settings.only?.has(name) ?? true),
      workloads: WORKLOADS.filter(({ id }) => settings.workloads?.has(id) ?? true),
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
  const title =
    'Ingress, one core: CPU a request (npm run bench -- ingress --help says how to see the whole)';
  const missing = missingPrograms();
  if (missing.length > 0) return { title, rows: [], notes: [`skipped: ${missing.join(', ')} missing`] };
  const settings = settingsOf(['--quick']);
  if (typeof settings === 'string') throw new Error(settings);
  const { measured, notes } = await measureAll(settings, () => undefined);
  return { title, rows: benchRows(measured), notes };
}

/** `npm run bench -- ingress <arguments>`: a table for each workload; the answer is the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const settings = settingsOf(args);
  if (typeof settings === 'string') {
    process.stdout.write(`${settings}\n`);
    return 2;
  }
  const { measured, notes } = await measureAll(settings, (line) => void process.stderr.write(`${line}\n`));
  for (const workload of measured.workloads) process.stdout.write(`\n${tableOf(measured, workload)}\n`);
  process.stdout.write(`\n${notes.map((note) => `  ${note}`).join('\n')}\n`);
  return 0;
}
