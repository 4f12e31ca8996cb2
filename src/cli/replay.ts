import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { type TakePiece, eachPiece } from '../replay/lines.ts';
import { mergeReplays } from '../replay/merge_replays.ts';
import { type LogReader, isLineByLine } from '../replay/read_log.ts';
import { type ReplaySummary, type Replayed, replay } from '../replay/replay.ts';
import type { PlaceOf } from '../replay/report_replay.ts';
import { refuseWithPartial } from './option_conflicts.ts';
import { EXIT } from './exit_codes.ts';
import { serviceNameOption } from './service_name.ts';
import { packageVersion } from './version.ts';
import { FileError } from '../project_files/load_config.ts';
import type { ReplayThreads } from './replay_threads.ts';
import { type JudgeOptions, type LoadedEdges, loadEdges, readerInto } from './replayed_edges.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { stdout } from './output.ts';
import { readCount, readIp } from './option_values.ts';
import { type PartOptions, type Shard, partOptions } from './part.ts';
import type { ReplayPart } from './replay_part.ts';
import { type ReplayGates, readPercent, replayExitCode, replayReport } from './replay_report.ts';
import { reporterOption } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { statOf } from './named_files.ts';

interface Options extends JudgeOptions, PartOptions, ReplayGates {
  readonly reporter: 'text' | 'json' | 'ndjson' | 'html';
  readonly jobs?: number;
}

type Given = Omit<Options, 'edge'> & Partial<Pick<Options, 'edge'>>;

export function register(command: Command): void {
  const does = 'how to print the report; `ndjson` has a line per record, `html` is a page with them';
  const split = partOptions(serviceNameOption(command), 'each log');
  reporterOption(split, ['text', 'json', 'ndjson', 'html'], { does })
    .argument(
      '<log...>',
      'recordings, events as NDJSON, HAR, access logs or curl command lines; - for standard input',
    )
    .option('-e, --edge <file>', `edge file under test${usualText('edge')}`)
    .option('--against <file>', 'edge file that was active when the log was written')
    .option(
      '--max-unknown <percent>',
      'exit with 7 if more than this percentage of records cannot be decided',
      readPercent,
    )
    .option(
      '--min-fidelity <percent>',
      'exit with 8 if less than this percentage of records has the logged decision',
      readPercent,
    )
    .option('--ip <address>', 'client address, if the log has none', readIp)
    .option(
      '--jobs <count>',
      'number of threads, if requests can be decided independently; default: automatic',
      readCount,
    )
    .option('--hash-key <file>', 'key of the hashes in the recordings, to compare redacted values')
    .option('--adopt-hosts', 'treat requests for unknown hosts as requests for the only edge')
    .action(async (logs: string[], options: Given) => {
      refuseWithPartial(command, ['--reporter', '--json', '--max-unknown', '--min-fidelity']);
      process.exitCode = await runReplay(logs, { ...options, edge: namedOrUsual(options.edge, 'edge') });
    });
}

async function runReplay(logs: readonly string[], options: Options): Promise<number> {
  if (options.minFidelity !== undefined && options.against === undefined)
    throw new FileError('--min-fidelity needs the configuration that made the log: give it with --against');
  const edges = await loadEdges(options);
  if (edges === null) return EXIT.configInvalid;
  const { candidate, current } = edges;
  const isOrderless = candidate.edge.isOrderless && current?.edge.isOrderless !== false;
  if (!isOrderless && (options.shard ?? options.partial) !== undefined) throw new FileError(IN_ORDER);
  if (options.partial !== undefined) return await leavePart(logs, options, edges);
  const running = replay(candidate.edge, current?.edge ?? null);
  const out = pieceWriter();
  const isNdjson = options.reporter === 'ndjson';
  const page = options.reporter === 'html' ? await pageOf(logs, options) : null;
  const tell = isNdjson ? (each: Replayed) => out.write(`${JSON.stringify(each)}\n`) : page?.take;
  // The records of a page are kept here.
  const jobs = isOrderless && page === null ? (options.jobs ?? jobsThatPay(logs)) : 1;
  const threads = jobs > 1 ? (await import('./replay_threads.ts')).replayThreads : null;
  const judging = judgingOf(options);
  const parts: ReplaySummary[] = [];
  for (const log of logs) {
    const begin = threads && (() => threads(jobs, judging, isNdjson ? out.write : null));
    const read = await readLog(log, readerInto(running, options.ip, tell), { begin, shard: options.shard });
    parts.push(...read.parts);
  }
  const summary = parts.length === 0 ? running.summary() : mergeReplays([running.summary(), ...parts]);
  out.write(
    options.reporter === 'html'
      ? page!.text(summary, candidate.placeOf)
      : replayReport(summary, options.reporter, candidate.placeOf),
  );
  out.close();
  return replayExitCode(summary, options);
}

const IN_ORDER =
  'the log cannot be split: limits, breakers or times make decisions depend on earlier requests; leave out --shard and --partial';

function judgingOf({ edge, against, ip, adoptHosts, hashKey, serviceName }: Options): JudgeOptions {
  return {
    edge,
    ...(against && { against }),
    ...(ip && { ip }),
    ...(adoptHosts && { adoptHosts }),
    ...(hashKey && { hashKey }),
    ...(serviceName && { serviceName }),
  };
}

/** Judges the share of this process, and writes what it found for `merge`. */
async function leavePart(
  logs: readonly string[],
  options: Options,
  { candidate, current }: LoadedEdges,
): Promise<number> {
  const { placesIn, sizeOf } = await import('./replay_part.ts');
  const { writePart } = await import('./part.ts');
  const { shard, partial } = options;
  const judging = judgingOf(options);
  const jobs = options.jobs ?? 1;
  const threads = jobs > 1 ? (await import('./replay_threads.ts')).replayThreads : null;
  const begin = threads && (() => threads(jobs, judging, null));
  const found: ReplayPart['logs'][number][] = [];
  for (const log of logs) {
    const running = replay(candidate.edge, current?.edge ?? null);
    const { lines, parts } = await readLog(log, readerInto(running, options.ip, undefined), { begin, shard });
    found.push({ lines, summary: mergeReplays([running.summary(), ...parts]) });
  }
  const summaries = found.map(({ summary }) => summary);
  // Parts of a log that grows would overlap; where another program splits, each part has a log of its own.
  const sizes = shard === undefined ? null : logs.map((log) => [log, sizeOf(log)]);
  const files = [...candidate.files, ...(current?.files ?? [])];
  const result: ReplayPart = { logs: found, places: placesIn(summaries, candidate.placeOf) };
  writePart(partial!, { verb: 'replay', shard, inputs: { files, options: { judging, sizes } }, result });
  return EXIT.ok;
}

/** Keeps records for a page; its code is loaded only here. */
async function pageOf(logs: readonly string[], { edge }: Options) {
  const { listedRecords, replayPage } = await import('../replay/report_page.ts');
  const records = listedRecords();
  const title = `${logs.join(', ')} with ${edge}`;
  return {
    take: records.take,
    text: (summary: ReplaySummary, placeOf: PlaceOf) =>
      replayPage(summary, { title, version: packageVersion(), records, placeOf }),
  };
}

/** Reads a log or its shard, on threads where each line can be judged alone; returns their summaries and the number of lines. */
async function readLog(
  log: string,
  reader: LogReader,
  { begin, shard }: { readonly begin: (() => ReplayThreads) | null; readonly shard: Shard | undefined },
): Promise<{ readonly lines: number; readonly parts: readonly ReplaySummary[] }> {
  // Assigned in a callback, which the type checker does not track.
  let threads = null as ReplayThreads | null;
  let parts: readonly ReplaySummary[] = [];
  let lines: number;
  const finish = async (): Promise<void> => {
    parts = (await threads?.end()) ?? [];
  };
  const range = shard === undefined ? null : (await import('./replay_part.ts')).rangeOf(log, shard);
  // A log that does not begin with line 1 is not taken for a HAR.
  const [first, before] = shard === undefined || shard.index === 1 ? [1, 0] : [2, 1];
  const take: TakePiece = (piece, firstLine, part) => {
    const number = firstLine + before;
    if (number === first && begin !== null && isLineByLine(piece)) threads = begin();
    return threads === null ? reader.piece(piece, number) : threads.take(piece, number, part);
  };
  try {
    lines = await eachPiece(log, take, { range, finish });
  } catch (error) {
    threads?.stop();
    throw new FileError(fileFailure('read', log, error));
  }
  reader.end();
  return { lines, parts };
}

/** Starting a thread takes about as long as judging this much of a log. */
const MIN_BYTES_PER_THREAD = 32 * 1_024 * 1_024;
/** Each thread takes about 60 MB; more threads only on request, to stay below 300 MB. */
const MAX_THREADS = 3;

function jobsThatPay(logs: readonly string[]): number {
  const bytes = logs.reduce((sum, log) => sum + (statOf(log)?.size ?? 0), 0);
  return Math.max(1, Math.min(Math.floor(bytes / MIN_BYTES_PER_THREAD), availableParallelism(), MAX_THREADS));
}

const PIECE_UNITS = 1 << 16;

/** Writes to standard output in large chunks, and waits for a slow reader: a stream would keep in memory what a pipe does not take. */
function pieceWriter(): { readonly write: (text: string) => void; readonly close: () => void } {
  let waiting = '';
  const flush = () => {
    stdout.writeNow(waiting);
    waiting = '';
  };
  return {
    write: (text) => {
      waiting += text;
      if (waiting.length > PIECE_UNITS) flush();
    },
    close: flush,
  };
}
