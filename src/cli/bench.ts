import { availableParallelism, cpus, platform } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Corpus } from '../benchmark/decision.ts';
import { expressionSubject } from '../benchmark/meter.ts';
import { REPORTS } from '../benchmark/report/index.ts';
import { type BenchResult, RESULT_VERSION } from '../benchmark/result.ts';
import { type BenchOptions, benchEdge, benchSubjects, withBaseline } from '../benchmark/run.ts';
import { type Threshold, readThreshold } from '../benchmark/thresholds.ts';
import { Activation } from '../policy/env/activation.ts';
import { NO_FACTS } from '../policy/env/facts.ts';
import type { HttpBenchOptions } from './bench_http.ts';
import { corpusOf } from './bench_corpus.ts';
import { type BenchTarget, readTarget } from './bench_target.ts';
import { packageVersion } from './version.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { printFindings } from './terminal.ts';
import { type OptionName, refuseAlone, refuseBeside } from './option_conflicts.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { addText, readCount } from './option_values.ts';
import { reportersOption } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';

interface Options extends Omit<HttpBenchOptions, 'http'>, ServiceOptions {
  readonly http?: string;
  readonly requests: readonly string[];
  readonly profile: boolean;
  readonly baseline?: string;
  readonly against?: string;
  readonly quiet?: boolean;
}

export function register(command: Command): void {
  reportersOption(serviceNameOption(command), Object.keys(REPORTS), addReport)
    .argument('[file]', `edge file, policy, or an expression in a file that ends in .cel${usualText('edge')}`)
    .option(
      '--requests <path>',
      'requests to measure with: a scenario file or folder, a recording, events, HAR or curl lines; can be repeated',
      addText,
      [],
    )
    .addOption(timeOption('--duration <time>', 'measuring time per row, such as 500ms', 1_000, '1s'))
    .addOption(timeOption('--warm-up <time>', 'maximum warm-up time per row', 2_000, '2s'))
    .option('--seed <seed>', 'seed of randomness', '1')
    .option('--no-profile', 'do not measure each module and rule separately')
    .option('--baseline <file>', 'compare with an earlier result, written by --reporter json=FILE')
    .option('--against <file>', 'measure another configuration in the same rounds, and compare with it')
    .option(
      '--threshold <limits...>',
      "limits that the result must meet, such as 'p99<50us' 'ops>500k'",
      addThreshold,
      [],
    )
    .option('-q, --quiet', 'do not show progress')
    .option(
      '--http <url>',
      'send load to a URL of this machine instead, at a rate that does not wait for responses',
    );
  const ofLoad = addLoadOptions(command);
  command.action(async (file: string | undefined, options: Options) => {
    refuseOfOther(command, ofLoad, file, options);
    process.exitCode = await bench(file, options);
  });
}

/** Adds the options of load, and returns them: they mean something with `--http` only. */
function addLoadOptions(command: Command): readonly Option[] {
  const others = command.options.length;
  command
    .option('--rate <count>', 'with --http: requests per second', readCount, 1_000)
    .option('--sweep <time>', 'with --http: find the highest rate whose p99 stays below this', readMs)
    .option(
      '--arrivals <kind>',
      'with --http: distribution of request times, constant or poisson',
      readArrivals,
      'constant',
    )
    .option('--http2', 'with --http: HTTP/2')
    .option('--connections <count>', 'with --http: maximum number of connections', readCount, 256)
    .addOption(timeOption('--timeout <time>', 'with --http: response timeout', 10_000, '10s'))
    .option('-X, --method <method>', 'with --http: method', 'GET')
    .option('-H, --header <header>', "with --http: header 'name: value'; can be repeated", addText, [])
    .option('--body <text>', 'with --http: body')
    .option('--insecure', 'with --http: do not verify the certificate')
    .option('--allow-remote', 'with --http: allow a URL of another machine; its owner must agree');
  return command.options.slice(others);
}

/** Options of measured decisions, which load that is sent to a URL has not. */
const OF_DECISIONS: readonly OptionName[] = [
  '--requests',
  '--no-profile',
  '--baseline',
  '--against',
  '--service-name',
];

/** Throws FileError for a file or options of decisions beside `--http`, and for options of load without it. */
function refuseOfOther(
  command: Command,
  ofLoad: readonly Option[],
  file: string | undefined,
  { http, arrivals }: Options,
): void {
  if (http !== undefined && file !== undefined)
    throw new FileError(`${file} and --http exclude each other: leave one out`);
  if (http === undefined)
    refuseAlone(
      command,
      ofLoad.map(({ long }) => long as OptionName),
      { only: 'load that is sent with --http', add: '--http URL' },
    );
  else refuseBeside(command, '--http', OF_DECISIONS);
  if (http !== undefined && arrivals === 'constant')
    refuseAlone(command, ['--seed'], { only: 'random arrivals', add: '--arrivals poisson' });
}

async function bench(named: string | undefined, options: Options): Promise<number> {
  if (options.http !== undefined) {
    const { benchHttp } = await import('./bench_http.ts');
    return await benchHttp({ ...options, http: options.http });
  }
  const file = namedOrUsual(named, 'edge');
  const baseline = options.baseline === undefined ? null : readBaseline(options.baseline);
  const target = await usableTarget(file, options);
  const other = options.against === undefined ? null : await usableTarget(options.against, options);
  if (target === null || (options.against !== undefined && other === null)) return EXIT.configInvalid;
  const result = await measured(file, target, other, options);
  return finish(baseline === null ? result : withBaseline(result, baseline, options.baseline!), options);
}

/** Reads a target and prints its findings; null when it cannot be measured. */
async function usableTarget(path: string, { serviceName }: ServiceOptions): Promise<BenchTarget | null> {
  const { target, diagnostics } = await readTarget(path, { serviceName });
  if (target === null) printFindings(diagnostics);
  return target;
}

async function measured(
  file: string,
  target: BenchTarget,
  other: BenchTarget | null,
  options: Options,
): Promise<BenchResult> {
  const setting: BenchOptions = {
    file,
    machine: machine(),
    seed: options.seed,
    durationMs: options.duration,
    warmUpMs: options.warmUp,
    profile: options.profile,
    locate: target.kind === 'edge' ? target.locate : () => null,
    ...(options.quiet !== true && stderr.isTTY && { progress: printProgress }),
  };
  const corpus = await corpusOf(target, options.requests, { serviceName: options.serviceName });
  if (target.kind === 'edge') {
    if (other !== null && other.kind !== 'edge')
      throw new FileError('--against: an edge can only be compared with an edge or a policy');
    return benchEdge(
      target.config,
      corpus,
      setting,
      other && { name: options.against!, config: other.config },
    );
  }
  if (other !== null && other.kind !== 'expression')
    throw new FileError('--against: an expression can only be compared with an expression');
  const inputs = activationsOf(corpus);
  const names = ['evaluation'];
  const subjects = [() => expressionSubject(target.program, inputs)];
  if (other === null) return benchSubjects(names, subjects, corpus, setting);
  const theirs = { name: options.against!, subjects: [() => expressionSubject(other.program, inputs)] };
  return benchSubjects(names, subjects, corpus, setting, theirs);
}

function activationsOf({ requests }: Corpus): readonly (() => Activation)[] {
  const world = { nowMs: () => Date.UTC(2026, 0, 1), random: () => 0.5 };
  return requests.flatMap(({ head, connection }) => {
    if ('refused' in head) return [];
    const { host, scheme } = head;
    const endpoint = { id: 'bench', host, port: scheme === 'https' ? 443 : 80, protocol: scheme };
    const surroundings = { endpoint, facts: NO_FACTS, secret: () => undefined };
    return [() => new Activation(world, surroundings, connection, head)];
  });
}

/** Writes the reports and returns the exit code: a slower row or a missed limit fails. */
function finish(result: BenchResult, { reporter, threshold }: Options): number {
  const reports = reporter.some(({ path }) => path === null)
    ? reporter
    : [{ name: 'pretty', path: null }, ...reporter];
  for (const { name, path } of reports) {
    const text = REPORTS[name]!(result, packageVersion());
    if (path === null) stdout.write(text);
    else writeText(path, text);
  }
  const first = result.rows[0]!;
  const missed = threshold.filter(({ holds }) => !holds(first));
  for (const { text, found } of missed)
    stderr.write(`${first.name}: limit ${text} missed: measured ${found(first)}\n`);
  const slower = result.compared.filter(({ comparison }) => comparison.verdict === 'slower');
  for (const { name } of slower) stderr.write(`${name}: slower than ${result.against!}\n`);
  return missed.length + slower.length > 0 ? EXIT.gateMissed : EXIT.ok;
}

function readBaseline(path: string): BenchResult {
  const text = readText(path);
  let found: Partial<BenchResult> = {};
  try {
    found = JSON.parse(text) as Partial<BenchResult>;
  } catch {
    // Not JSON: the error below reports it.
  }
  if (found.version !== RESULT_VERSION || !Array.isArray(found.rows))
    throw new FileError(`${path} is not a result of this version; write one with --reporter json=${path}`);
  return found as BenchResult;
}

function machine(): BenchResult['machine'] {
  const cpu = cpus()[0]?.model.trim() ?? 'unknown processor';
  return { node: process.versions.node, cpu, cores: availableParallelism(), os: platform() };
}

const PERCENT = 100;

/** A progress line that overwrites itself. The work blocks the event loop, so the write is synchronous. */
function printProgress(doing: string, share: number): void {
  const done = share >= 1 ? '' : `measuring ${doing}: ${Math.floor(share * PERCENT)} %`;
  stderr.write(`\r${done.padEnd(40)}${done === '' ? '\r' : ''}`);
}

function addThreshold(text: string, before: readonly Threshold[]): readonly Threshold[] {
  const threshold = readThreshold(text);
  if ('problem' in threshold) throw new InvalidArgumentError(threshold.problem);
  return [...before, threshold];
}

function addReport(text: string, before: Options['reporter']): Options['reporter'] {
  const [name, path = null] = text.split('=', 2) as [string, string?];
  if (!Object.hasOwn(REPORTS, name))
    throw new InvalidArgumentError(
      `'${name}' is not a reporter; choose from ${Object.keys(REPORTS).join(', ')}.`,
    );
  return [...before, { name, path }];
}

const TIME = /^(\d+(?:\.\d+)?)(ms|s)$/;

function timeOption(flags: string, description: string, defaultMs: number, shown: string): Option {
  return new Option(flags, description).argParser(readMs).default(defaultMs, shown);
}

function readMs(text: string): number {
  const [, number, unit] = TIME.exec(text) ?? [];
  if (number === undefined)
    throw new InvalidArgumentError('write a time as a number with ms or s, such as 500ms.');
  return Number(number) * (unit === 's' ? 1_000 : 1);
}

function readArrivals(text: string): string {
  if (text !== 'constant' && text !== 'poisson')
    throw new InvalidArgumentError('expected constant or poisson.');
  return text;
}
