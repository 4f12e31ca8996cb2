import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { type Simulated, compileSimulation, simulate } from '../simulator/simulation.ts';
import { EXIT } from './exit_codes.ts';
import { FileError } from '../project_files/load_config.ts';
import { wantsColor } from './terminal.ts';
import { eventMaker } from './testing/event_log.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { signerFor } from '../project_files/run_scenarios.ts';

interface Options {
  readonly events?: string;
  readonly plot?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command('sim')
    .description('Run the simulation of a scenario file in virtual time')
    .argument('<file>', 'scenario file with a `simulation`')
    .option('--events <file>', 'write the event of each request as NDJSON, or - for standard output')
    .option('--plot <file>', 'write an HTML page with plots of decisions, breaker state and latency')
    .option('--seed <seed>', 'seed of randomness; overrides that of the file')
    .option('--json', 'print the summary as JSON')
    .action(async (file: string, options: Options) => {
      process.exitCode = await sim(file, options);
    });
}

async function sim(file: string, options: Options): Promise<number> {
  try {
    const { checked, edge, findings } = await scenarioLoader()(file);
    const all: Diagnostic[] = [...checked.diagnostics, ...findings];
    const shell = checked.scenario?.shell;
    const signer = checked.scenario === null ? null : await signerFor(checked.scenario);
    const compiled =
      shell === undefined || edge === null
        ? null
        : compileSimulation({ checked, shell, edge: edge.config, signer, seed: options.seed ?? null }, all);
    if (all.length > 0) process.stderr.write(renderDiagnostics(all, { color: wantsColor(process.stderr) }));
    if (hasErrors(all)) return EXIT.configInvalid;
    if (compiled === null || edge === null) throw new FileError(`${file} has no simulation`);
    const events = options.events === undefined ? null : eventWriter(options.events);
    const simulated = simulate(compiled, edge, (completed) => events?.write(completed));
    events?.close();
    if (options.plot !== undefined) {
      const { plotsPage } = await import('../simulator/report/plots.ts');
      writeFileSync(options.plot, plotsPage(simulated, file));
    }
    const out = options.events === '-' ? process.stderr : process.stdout;
    out.write(options.json === true ? `${JSON.stringify(dataOf(simulated), null, 2)}\n` : table(simulated));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
}

const PIECE = 1 << 16;
const STDOUT = 1;

/** Writes during the run, which is synchronous: a stream would buffer everything until its end. */
function eventWriter(path: string) {
  const make = eventMaker();
  const file = path === '-' ? STDOUT : openSync(path, 'w');
  let waiting = '';
  const flush = () => {
    if (waiting !== '') writeSync(file, waiting);
    waiting = '';
  };
  return {
    write: (simulated: Parameters<typeof make>[0]) => {
      waiting += make(simulated);
      if (waiting.length > PIECE) flush();
    },
    close: () => {
      flush();
      if (file !== STDOUT) closeSync(file);
    },
  };
}

const QUANTILES = [0.5, 0.9, 0.99, 0.999];

function dataOf(simulated: Simulated): object {
  const { requests, durationMs, statuses, backends, reasons, latency } = simulated;
  return {
    requests,
    duration_ms: durationMs,
    statuses: Object.fromEntries(statuses),
    backends: Object.fromEntries(backends),
    reasons: Object.fromEntries(reasons),
    latency_ms: Object.fromEntries(QUANTILES.map((each) => [`p${each * 100}`, latency.quantile(each)])),
  };
}

function table(simulated: Simulated): string {
  const { requests, durationMs, statuses, backends, reasons, latency } = simulated;
  const lines = [`${requests.toLocaleString('en')} requests in ${durationMs / 1_000} s of virtual time`];
  const groups = [
    ['status', statuses],
    ['backend', backends],
    ['reason', reasons],
  ] as const;
  for (const [title, counts] of groups) {
    lines.push('', title);
    for (const [name, count] of [...counts].sort((one, other) => other[1] - one[1])) {
      const share = ((count / Math.max(1, requests)) * 100).toFixed(2);
      lines.push(`  ${name.padEnd(32)} ${count.toLocaleString('en').padStart(12)} ${share.padStart(7)} %`);
    }
  }
  lines.push('', 'latency');
  for (const each of QUANTILES) {
    lines.push(`  ${`p${each * 100}`.padEnd(32)} ${latency.quantile(each).toFixed(1).padStart(12)} ms`);
  }
  return `${lines.join('\n')}\n`;
}
