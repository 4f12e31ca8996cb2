import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { eachPiece } from '../replay/lines.ts';
import { logReader } from '../replay/read_log.ts';
import type { LoggedArrivals } from '../simulator/arrivals.ts';
import type { CheckedScenario } from '../simulator/document/check.ts';
import type { ScenarioShell } from '../simulator/document/schema.ts';
import type { PreparedRequest } from '../simulator/prepared_request.ts';
import { nodesData, nodesLines } from '../simulator/report/nodes.ts';
import {
  type CompiledSimulation,
  type Simulated,
  compileSimulation,
  simulate,
} from '../simulator/simulation.ts';
import { besideName } from '../project_files/files_beside.ts';
import { counted, errorText, grouped } from '../diagnostics/message_text.ts';
import { NO_BYTES } from '../engine/drivers/reply_content.ts';
import { packageVersion } from './version.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { type NodesOptions, cutsGiven, nodesGiven, nodesOptions } from './sim_nodes.ts';
import { printFindings } from './terminal.ts';
import { FileError } from '../project_files/load_config.ts';
import { eventMaker } from './testing/event_log.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { signerFor } from '../project_files/run_scenarios.ts';
import { textOrJson } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';

interface Options extends ServiceOptions, NodesOptions {
  readonly events?: string;
  readonly plot?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

export function register(command: Command): void {
  nodesOptions(textOrJson(serviceNameOption(command)))
    .argument('[file]', `scenario file with a \`simulation\`${usualText('scenario')}`)
    .option('--events <file>', 'write the event of each request as NDJSON, or - for standard output')
    .option('--plot <file>', 'write an HTML page with plots of decisions, breaker state and latency')
    .option('--seed <seed>', 'seed of randomness; overrides that of the file')
    .action(async (file: string | undefined, options: Options) => {
      if (options.plot !== undefined && options.plot === options.events)
        throw new FileError('--events and --plot name one file: name a file for each');
      process.exitCode = await sim(namedOrUsual(file, 'scenario'), options);
    });
}

async function sim(file: string, options: Options): Promise<number> {
  const { checked, edge, findings, configured } = await scenarioLoader({ serviceName: options.serviceName })(
    file,
  );
  const all: Diagnostic[] = [...checked.diagnostics, ...findings];
  const shell = checked.scenario?.shell;
  const signer = checked.scenario === null ? null : await signerFor(checked.scenario);
  const logs = await logsOf(shell, checked, all);
  const seed = options.seed ?? null;
  const nodes = nodesGiven(options);
  const compiled =
    shell === undefined || edge === null
      ? null
      : compileSimulation({ checked, shell, edge: edge.config, signer, seed, nodes, configured }, all, logs);
  printFindings(all);
  if (hasErrors(all)) return EXIT.configInvalid;
  if (compiled === null || edge === null)
    throw new FileError(
      `${file} has no simulation; add \`simulation\` with \`duration\` and \`arrivals\`, or run its cases with \`edgeproof test\``,
    );
  const run = withCuts(compiled, options);
  const events = options.events === undefined ? null : eventWriter(options.events);
  const simulated = simulate(run, edge, (completed) => events?.write(completed));
  events?.close();
  if (options.plot !== undefined) {
    const { plotsPage } = await import('../simulator/report/plots.ts');
    writeText(options.plot, plotsPage(simulated, file, packageVersion()));
  }
  const out = options.events === '-' ? stderr : stdout;
  out.write(options.json === true ? `${JSON.stringify(dataOf(simulated), null, 2)}\n` : table(simulated));
  return EXIT.ok;
}

/** The cuts of the command line are changes of the simulation. */
function withCuts(compiled: CompiledSimulation, options: Options): CompiledSimulation {
  const cuts = cutsGiven(options, compiled).map(({ atMs, atNodes }) => {
    return { atMs, atNodes, upstreams: new Map(), agents: [] };
  });
  return cuts.length === 0 ? compiled : { ...compiled, changes: [...compiled.changes, ...cuts] };
}

/** More requests than this would not fit into the memory. */
const MAX_LOGGED = 1_000_000;

/** The requests of the logs that arrivals name; what cannot be read is reported where it is named. */
async function logsOf(
  shell: ScenarioShell | undefined,
  checked: CheckedScenario,
  found: Diagnostic[],
): Promise<ReadonlyMap<string, LoggedArrivals>> {
  const logs = new Map<string, LoggedArrivals>();
  for (const [index, { log }] of (shell?.simulation?.arrivals ?? []).entries()) {
    if (log === undefined || logs.has(log)) continue;
    const report = (message: string) =>
      checked.report(found)('scenario.bad_arrivals', `/simulation/arrivals/${index}/log`, message);
    const read: { atMs: number; request: PreparedRequest }[] = [];
    let count = 0;
    const reader = logReader({
      record: ({ atMs, head, connection, body }) => {
        if (++count > MAX_LOGGED) return;
        read.push({ atMs, request: { head, connection, body: body ?? NO_BYTES, leaveAfterMs: -1 } });
      },
      problem: (line, message) => report(`line ${line} of the log: ${message}`),
    });
    try {
      await eachPiece(besideName(checked.name, log), reader.piece);
      reader.end();
    } catch (error) {
      report(`cannot read the log: ${errorText(error)}`);
      continue;
    }
    if (count > MAX_LOGGED) report(`the log has more than ${MAX_LOGGED} requests`);
    else if (count === 0) report('the log has no requests');
    const firstMs = read.reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY);
    const arrivals = read.map(({ atMs, request }) => ({ atMs: atMs - firstMs, request }));
    logs.set(
      log,
      arrivals.sort((one, other) => one.atMs - other.atMs),
    );
  }
  return logs;
}

const PIECE = 1 << 16;

/** Writes during the run, which is synchronous: a stream would buffer everything until its end. */
function eventWriter(path: string) {
  const make = eventMaker();
  const file = path === '-' ? null : openSync(path, 'w');
  let waiting = '';
  const flush = () => {
    if (file === null) stdout.writeNow(waiting);
    else writeFileSync(file, waiting);
    waiting = '';
  };
  return {
    write: (simulated: Parameters<typeof make>[0]) => {
      waiting += make(simulated);
      if (waiting.length > PIECE) flush();
    },
    close: () => {
      flush();
      if (file !== null) closeSync(file);
    },
  };
}

const QUANTILES = [0.5, 0.9, 0.99, 0.999];

function dataOf(simulated: Simulated): object {
  const { requests, durationMs, statuses, backends, agents, reasons, latency } = simulated;
  return {
    requests,
    duration_ms: durationMs,
    statuses: Object.fromEntries(statuses),
    backends: Object.fromEntries(backends),
    ...(agents.size > 0 && { agents: Object.fromEntries(agents) }),
    reasons: Object.fromEntries(reasons),
    intervals: intervalsOf(simulated).map(({ fromMs, offered, served }) => ({
      from_ms: fromMs,
      offered,
      served,
    })),
    served_late: simulated.servedLate,
    ...(simulated.nodes && { nodes: nodesData(simulated.nodes, simulated.startMs) }),
    latency_ms: Object.fromEntries(QUANTILES.map((each) => [`p${each * 100}`, latency.quantile(each)])),
  };
}

/** Rows of the report over time. */
const INTERVALS = 12;

/** What was offered and served over time. */
function intervalsOf({ buckets, durationMs }: Simulated) {
  const size = buckets.length / INTERVALS;
  return Array.from({ length: INTERVALS }, (_, at) => {
    const own = buckets.slice(at * size, (at + 1) * size);
    const sum = (key: 'offered' | 'served') => own.reduce((all, bucket) => all + bucket[key], 0);
    return { fromMs: (durationMs / INTERVALS) * at, offered: sum('offered'), served: sum('served') };
  });
}

function intervalLines(simulated: Simulated): string[] {
  const seconds = simulated.durationMs / INTERVALS / 1_000;
  const perSecond = (count: number) => (count / seconds).toFixed(1).padStart(12);
  const rows = intervalsOf(simulated).map(
    ({ fromMs, offered, served }) =>
      `  ${`from ${(fromMs / 1_000).toFixed(1)} s`.padEnd(32)} ${perSecond(offered)} ${perSecond(served)}`,
  );
  const late = simulated.servedLate;
  return [
    '',
    `${'per second'.padEnd(34)} ${'offered'.padStart(12)} ${'served'.padStart(12)}`,
    ...rows,
    ...(late === 0
      ? []
      : [
          `  ${counted(late, 'more request was', 'more requests were')} served after the end of the simulation`,
        ]),
  ];
}

function table(simulated: Simulated): string {
  const { requests, durationMs, statuses, backends, agents, reasons, latency } = simulated;
  const lines = [`${counted(requests, 'request')} in ${durationMs / 1_000} s of virtual time`];
  const groups = [
    ['status', statuses],
    ['backend', backends],
    ['agent', agents],
    ['reason', reasons],
  ] as const;
  for (const [title, counts] of groups) {
    if (counts.size === 0) continue;
    lines.push('', title);
    for (const [name, count] of [...counts].sort((one, other) => other[1] - one[1])) {
      const share = ((count / Math.max(1, requests)) * 100).toFixed(2);
      lines.push(`  ${name.padEnd(32)} ${grouped(count).padStart(12)} ${share.padStart(7)} %`);
    }
  }
  lines.push('', 'latency');
  for (const each of QUANTILES) {
    lines.push(`  ${`p${each * 100}`.padEnd(32)} ${latency.quantile(each).toFixed(1).padStart(12)} ms`);
  }
  lines.push(...intervalLines(simulated));
  const { nodes, startMs } = simulated;
  if (nodes !== null) lines.push(...nodesLines(nodes, startMs, startMs + durationMs));
  return `${lines.join('\n')}\n`;
}
