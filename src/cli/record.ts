import { dirname, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { eachLine, eachPiece } from '../replay/lines.ts';
import { counted } from '../diagnostics/message_text.ts';
import { replayedEdge } from '../replay/decide.ts';
import { harOf } from '../replay/har.ts';
import { exchangeIn } from '../replay/recorded_shape.ts';
import { logReader } from '../replay/read_log.ts';
import type { LogRecord } from '../replay/log_record.ts';
import type { RecordedExchange } from '../replay/recording.ts';
import { offlineCodeOf } from '../replay/recorded_tunnels.ts';
import { hostInCase, scenarioWriter } from '../replay/to_scenario.ts';
import { dialledBackends } from '../simulator/case_setting.ts';
import { onlineAgents } from '../simulator/search/draft.ts';
import { about } from './dev.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { runIngress } from './ingress.ts';
import { type IngressOptions, ingressOptions } from './ingress_options.ts';
import { FileError, loadConfig } from '../project_files/load_config.ts';
import { statOf } from './named_files.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { refuseAllBeside, refuseAlone } from './option_conflicts.ts';
import { readCount } from './option_values.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';
import { printable } from './terminal.ts';

interface Options extends Omit<IngressOptions, 'record'> {
  readonly from?: readonly string[];
  readonly to?: 'har' | 'scenario';
  readonly out?: string;
  readonly limit: number;
}

export function register(command: Command): void {
  command
    .argument('[file]', `edge file${usualText('edge')}`)
    .option('-o, --out <file>', 'output file; - for standard output when converting')
    .option('--from <log...>', 'logs to convert instead of serving')
    .addOption(new Option('--to <format>', 'target format').choices(['har', 'scenario']))
    .option('--limit <count>', 'maximum number of records to convert', readCount, 1_000);
  ingressOptions(command).action(async (file: string | undefined, options: Options) => {
    if (options.from === undefined)
      refuseAlone(command, ['--to', '--limit'], { only: 'logs that are converted', add: '--from LOG' });
    else refuseAllBeside(command, '--from', ['--to', '--out', '--limit', '--service-name']);
    process.exitCode = await record(file, options);
  });
}

async function record(named: string | undefined, options: Options): Promise<number> {
  if (options.from !== undefined) return await convert(named, options.from, options);
  const { out: path } = options;
  if (path === undefined || path === '-')
    throw new FileError('name the file to record to: --out session.ndjson');
  const file = namedOrUsual(named, 'edge');
  const { serviceName } = options;
  const load = () => loadConfig(file, { serviceName });
  return await runIngress(
    { verb: 'dev', file, load, drafts: { file, serviceName }, adoptHosts: 'loopback', about },
    { ...options, record: path },
  );
}

async function convert(
  named: string | undefined,
  logs: readonly string[],
  options: Options,
): Promise<number> {
  if (options.to === undefined) throw new FileError('name the target format with --to: har or scenario');
  const { out = '-', limit } = options;
  if (out !== '-' && logs.some((log) => isSameFile(log, out)))
    throw new FileError(`${out} is read, so it cannot be written, too; name another file with --out`);
  const made =
    options.to === 'har'
      ? await toHar(logs, limit)
      : await toScenario(namedOrUsual(named, 'edge'), logs, out, options);
  for (const problem of made.problems.lines()) stderr.write(`${printable(problem)}\n`);
  if (made.count === 0) return EXIT.nothingSelected;
  if (out === '-') stdout.write(made.text);
  else writeText(out, made.text);
  return EXIT.ok;
}

interface Made {
  readonly text: string;
  readonly count: number;
  readonly problems: Problems;
}

/** Whether two paths lead to one file, also over links. */
function isSameFile(one: string, other: string): boolean {
  const [first, second] = [statOf(one), statOf(other)];
  return first?.isFile() === true && first.ino === second?.ino && first.dev === second.dev;
}

/** How many problems of logs are kept and shown. */
const SHOWN = 20;

/** The first problems of logs: a log of another kind has one in each of its lines. */
class Problems {
  readonly first: string[] = [];
  #count = 0;

  add(problem: string): void {
    if (this.#count++ < SHOWN) this.first.push(problem);
  }

  lines(): readonly string[] {
    const more = this.#count - this.first.length;
    return more === 0 ? this.first : [...this.first, `and ${counted(more, 'further problem')}`];
  }
}

/** Only recordings have everything that an HTTP archive needs. */
async function toHar(logs: readonly string[], limit: number): Promise<Made> {
  const exchanges: RecordedExchange[] = [];
  const problems = new Problems();
  for (const log of logs) {
    const take = (line: string, number: number): void => {
      if (exchanges.length >= limit || line === '') return;
      const read = recordedIn(line);
      if (read === null) return;
      if ('exchange' in read) exchanges.push(read.exchange);
      else problems.add(`${log}: line ${number}: ${read.problem}`);
    };
    await namedInErrors(log, eachLine(log, take));
  }
  // A log of another kind: each of its lines is a problem.
  const [first] = problems.first;
  if (exchanges.length === 0 && first !== undefined) throw new FileError(`${first}; ${ONLY_RECORDINGS}`);
  const { packageVersion } = await import('./version.ts');
  const text = `${JSON.stringify(harOf(exchanges, packageVersion()), null, 2)}\n`;
  if (exchanges.length === 0) problems.add(NO_EXCHANGE);
  return { text, count: exchanges.length, problems };
}

const ONLY_RECORDINGS = 'only recordings can be converted to HAR: `edgeproof record --out FILE` makes one';
const NO_EXCHANGE = `the logs have no recorded exchange; ${ONLY_RECORDINGS}`;

function recordedIn(line: string): ReturnType<typeof exchangeIn> {
  try {
    return exchangeIn(JSON.parse(line));
  } catch {
    return { problem: 'this is not JSON' };
  }
}

async function toScenario(
  file: string,
  logs: readonly string[],
  out: string,
  { limit, serviceName }: Options,
): Promise<Made> {
  const { config } = await loadConfig(file, { serviceName });
  const hosts = config === null ? null : replayedEdge(config);
  const has = (url: string): boolean => hosts?.hasHostOf(url) === true;
  const from = out === '-' ? '.' : dirname(out);
  const edge = relative(from, resolve(file));
  const writer = scenarioWriter({
    edge: edge.startsWith('.') ? edge : `./${edge}`,
    backends: config === null ? [] : dialledBackends(config),
    agents: config === null ? {} : onlineAgents(config),
    offlineCode: offlineCodeOf(config?.service_name ?? ''),
    ...(config !== null && { hostOf: (host: string) => hostInCase(host, has, config) }),
  });
  const problems = new Problems();
  let read = '';
  let count = 0;
  const skipped = new Map<string, number>();
  const take = (logged: LogRecord): void => {
    const { agentEndpoint: url } = logged;
    if (url !== undefined && !has(url)) skipped.set(url, (skipped.get(url) ?? 0) + 1);
    else if (count++ < limit) writer.take(logged);
  };
  const reader = logReader({
    record: take,
    problem: (line, message) => problems.add(`${read}: line ${line}: ${message}`),
  });
  for (const log of logs) {
    read = log;
    await namedInErrors(log, eachPiece(log, reader.piece));
  }
  reader.end();
  for (const [url, records] of skipped)
    problems.add(
      `${counted(records, 'record')} skipped: ${url} was the endpoint of an agent, and ${file} has no such host`,
    );
  return { text: writer.text(), count, problems };
}

/** Awaits the reading of a log; its errors name the file. */
async function namedInErrors(log: string, reading: Promise<number>): Promise<void> {
  try {
    await reading;
  } catch (error) {
    throw new FileError(fileFailure('read', log, error));
  }
}
