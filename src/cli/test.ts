import { type Command, InvalidArgumentError } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { Thresholds } from '../coverage/thresholds.ts';
import { type CaseResult, type FileResult, summaryOf } from '../simulator/result.ts';
import { type TestRun, elapsedMs, runScenarios } from '../project_files/run_scenarios.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { FileError } from '../project_files/load_config.ts';
import { type AskedCoverage, addCoverage, addThresholds } from './testing/coverage_report.ts';
import { eventLog } from './testing/event_log.ts';
import { findTests, nothingSelected, jobsThatPay } from './testing/find_files.ts';
import type { OneRun } from './testing/watch.ts';
import { REPORTERS } from '../simulator/report/reporter.ts';
import { type AskedReport, openReports, readReport } from './testing/reports.ts';
import { selector } from '../project_files/select.ts';
import { addText, readCount } from './option_values.ts';
import { counted } from '../diagnostics/message_text.ts';
import type { TestPart } from './merging/tests.ts';
import { refuseWithPartial } from './option_conflicts.ts';
import { type PartOptions, partOptions } from './part.ts';
import { reportersOption } from './reporter_option.ts';
import { stderr, stdout } from './output.ts';

interface Options extends ServiceOptions, PartOptions {
  readonly filter: readonly string[];
  readonly tag: readonly string[];
  readonly repeat: number;
  readonly bail?: boolean;
  readonly seed?: string;
  readonly jobs?: number;
  readonly watch?: boolean;
  readonly update?: boolean;
  readonly reporter: readonly AskedReport[];
  readonly events?: string;
  readonly coverage?: boolean;
  readonly coverageReporter: readonly AskedCoverage[];
  readonly threshold?: Thresholds;
  readonly emitCases?: string;
}

export function register(command: Command): void {
  reportersOption(partOptions(serviceNameOption(command), 'the cases'), REPORTERS, addReport)
    .argument(
      '[path...]',
      "scenario files, folders with *.scenario.yaml, .json or .ts, or patterns such as 'shops/**'; for an edge file or policy, the scenario files next to it that test it; default: this folder",
    )
    .option(
      '-f, --filter <text>',
      'cases whose name contains this; =name, or /pattern/; can be repeated',
      addText,
      [],
    )
    .option('-t, --tag <tags>', 'cases with one of these tags, or without !tag; can be repeated', addText, [])
    .option('--repeat <count>', 'number of runs of each case, each with a different seed', readCount, 1)
    .option('--bail', 'stop at the first failure')
    .option('--seed <seed>', 'seed of randomness; overrides those of the files')
    .option('--jobs <count>', 'number of threads; default: automatic', readCount)
    .option('-w, --watch', 'run affected cases again on changes')
    .option('-u, --update', 'print the value of each `snapshot` and write it to the file')
    .option('--events <file>', 'write the event of each request as NDJSON')
    .option('--coverage', 'also report what the cases leave untested')
    .option('--coverage-reporter <name[=path]>', 'text, json, lcov, html; can be repeated', addCoverage, [])
    .option('--threshold <kind=percent,...>', 'minimum percentages, such as rules=100,mcdc=90', addThresholds)
    .option('--emit-cases <file>', 'write a scenario file with suggested cases for uncovered points')
    .action(async (paths: string[], options: Options) => {
      refuseWithPartial(command, ['--reporter', '--json']);
      process.exitCode = await test(paths, options);
    });
}

async function test(paths: readonly string[], options: Options): Promise<number> {
  const files = await findTests(paths);
  const selects = selector({ filters: options.filter, tags: options.tag, shard: options.shard ?? null });
  if (typeof selects !== 'function') throw new FileError(selects.problem);
  if (options.partial !== undefined) return await leavePart(files, options);
  if (options.watch === true) {
    const { watchScenarios } = await import('./testing/watch.ts');
    return await watchScenarios(files, (some) => runOnce(some, options, paths));
  }
  const { code } = await runOnce(files, options, paths);
  return code;
}

/** Runs the share of this process, and writes its results for `merge`. */
async function leavePart(files: readonly string[], options: Options): Promise<number> {
  const { writePart } = await import('./part.ts');
  const { filter, tag, shard, repeat, bail, watch, update: fills, events, serviceName, partial } = options;
  const seed = options.seed ?? null;
  if ((watch ?? fills ?? bail ?? events) !== undefined || wantsCoverage(options))
    throw new FileError(
      '--partial only collects results: leave out --watch, --update, --bail and --events, and take `cover --partial` for coverage',
    );
  const made = new Set<string>(files);
  const began = elapsedMs();
  const run: TestRun = {
    selects: selector({ filters: filter, tags: tag, shard: shard ?? null }) as TestRun['selects'],
    seed,
    serviceName,
    repeat,
    bail: false,
    lines: true,
    explainsPassed: true,
    onResult: () => {},
  };
  const results = await runScenarios(files, run, (_, own) => own.forEach((each) => made.add(each)));
  const inputs = { files: [...made], options: { files, filter, tag, seed, repeat, serviceName } };
  const result: TestPart = { files: results, tookMs: elapsedMs() - began, seed };
  writePart(partial!, { verb: 'test', shard, inputs, result });
  return EXIT.ok;
}

async function runOnce(
  files: readonly string[],
  options: Options,
  paths: readonly string[],
): Promise<OneRun> {
  const began = elapsedMs();
  const seed = options.seed ?? null;
  const asked = options.reporter.some(({ path }) => path === null)
    ? options.reporter
    : [{ name: 'pretty', path: null } as const, ...options.reporter];
  const reports = await openReports(asked, seed);
  const madeOf = new Map<string, readonly string[]>();
  const log = options.events === undefined ? null : eventLog();
  const progress = progressOf();
  // Shards count cases, so each run needs its own selector.
  const selects = selector({ filters: options.filter, tags: options.tag, shard: options.shard ?? null });
  const coverage = wantsCoverage(options) ? await coverageOf(options) : null;
  const run: TestRun = {
    selects: selects as TestRun['selects'],
    seed,
    serviceName: options.serviceName,
    repeat: options.repeat,
    bail: options.bail === true,
    fillsSnapshots: options.update === true,
    lines: asked.some(({ name }) => LOCATED.has(name)),
    explainsPassed: asked.some(({ name }) => name === 'html'),
    onResult: reports.ran,
    ...(log && { completed: log.completed }),
    ...(coverage && { on: coverage.on }),
  };
  const results = await resultsOf(files, run, options, madeOf, progress);
  reports.finished(results, summaryOf(results, elapsedMs() - began));
  if (log !== null) await log.write(options.events!);
  const isFilled = options.update !== true || (await update(results, asked));
  const code = codeOf(results, isFilled, () => nothingSelected(files, paths, options));
  const isReached = coverage === null || code === EXIT.configInvalid || (await coverage.tell());
  return { code: code === EXIT.ok && !isReached ? EXIT.gateMissed : code, madeOf };
}

async function resultsOf(
  files: readonly string[],
  run: TestRun,
  options: Options,
  madeOf: Map<string, readonly string[]>,
  progress: (count: number) => void,
): Promise<readonly FileResult[]> {
  const {
    filter,
    tag,
    shard,
    bail,
    repeat,
    seed,
    events,
    update: fillsSnapshots = false,
    serviceName,
  } = options;
  const isSimple = shard === undefined && bail !== true && events === undefined && !wantsCoverage(options);
  const jobs = isSimple ? (options.jobs ?? jobsThatPay(files, repeat)) : 1;
  if (jobs > 1 && files.length > 1) {
    const { runOnThreads } = await import('./testing/threads.ts');
    const { explainsPassed = false } = run;
    const order = { filter, tag, repeat, seed: seed ?? null, fillsSnapshots, serviceName, explainsPassed };
    return runOnThreads(files, order, jobs, {
      onResult: run.onResult,
      ran: progress,
      made: (path, made) => madeOf.set(path, made),
    });
  }
  const onResult = (result: CaseResult): void => {
    run.onResult(result);
    progress(1);
  };
  return runScenarios(files, { ...run, onResult }, (path, made) => madeOf.set(path, made));
}

function wantsCoverage({ coverage, coverageReporter, threshold, emitCases }: Options): boolean {
  return (
    coverage === true || coverageReporter.length > 0 || threshold !== undefined || emitCases !== undefined
  );
}

/** Records coverage while cases run, and reports it; loaded on demand. */
async function coverageOf({ coverageReporter, threshold, emitCases }: Options) {
  const { coverageRecords } = await import('../project_files/coverage_records.ts');
  const { printCoverage } = await import('./testing/coverage_output.ts');
  const book = coverageRecords();
  const tell = () =>
    printCoverage(book.edges(), {
      reporters: coverageReporter,
      thresholds: threshold ?? {},
      emitCases: emitCases ?? null,
      isOffering: false,
    });
  return { on: book.on, tell };
}

/**
 * Prints and fills in snapshots; whether all could be filled in. Formats that programs read stay unchanged.
 */
async function update(results: readonly FileResult[], asked: readonly AskedReport[]): Promise<boolean> {
  const { fillSnapshots } = await import('./testing/update.ts');
  const isForPeople = asked.every(({ name, path }) => path !== null || name === 'pretty' || name === 'dot');
  const out = isForPeople ? stdout : stderr;
  let isFilled = true;
  for (const { file, cases } of results)
    if (!(await fillSnapshots(file, cases, (text) => out.write(text)))) isFilled = false;
  return isFilled;
}

/** The exit code: unusable files come before failures, failures before an empty selection. */
function codeOf(results: readonly FileResult[], isFilled: boolean, aboutNothing: () => string): number {
  if (results.some(({ diagnostics }) => hasErrors(diagnostics))) return EXIT.configInvalid;
  const cases = results.flatMap((each) => each.cases);
  if (!isFilled || cases.some(({ status }) => status === 'failed')) return EXIT.failed;
  if (cases.length > 0) return EXIT.ok;
  stderr.write(aboutNothing());
  return EXIT.nothingSelected;
}

/** Reports that contain the place of each case. */
const LOCATED: ReadonlySet<string> = new Set(['json', 'ndjson', 'junit', 'html']);

const PROGRESS_MS = 200;

/** Counts cases on a terminal during long runs. */
function progressOf(): (ran: number) => void {
  if (!stderr.isTTY) return () => {};
  let count = 0;
  let lastMs = elapsedMs();
  return (ran) => {
    count += ran;
    const nowMs = elapsedMs();
    if (nowMs - lastMs < PROGRESS_MS) return;
    lastMs = nowMs;
    stderr.write(`\r${counted(count, 'case')}\u001b[K\r`);
  };
}

function addReport(text: string, before: readonly AskedReport[]): readonly AskedReport[] {
  const read = readReport(text);
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem}.`);
  return [...before, read];
}
