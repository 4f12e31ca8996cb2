import { type Command, InvalidArgumentError } from 'commander';
import { statSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { eachPiece, linesOfPiece } from '../replay/lines.ts';
import { mergeReplays } from '../replay/merge_replays.ts';
import { type LogReader, isLineByLine } from '../replay/read_log.ts';
import { type ReplaySummary, type Replayed, replay } from '../replay/replay.ts';
import { type PlaceOf, replayText } from '../replay/report_replay.ts';
import { EXIT } from './exit_codes.ts';
import { serviceNameOption } from './service_name.ts';
import { packageVersion } from './version.ts';
import { FileError } from '../project_files/load_config.ts';
import type { ReplayThreads } from './replay_threads.ts';
import { type JudgeOptions, loadEdges, readerInto } from './replayed_edges.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { exitOnOutputError } from './shutdown.ts';
import { readCount, readIp } from './option_values.ts';
import { reporterOption } from './reporter_option.ts';

interface Options extends JudgeOptions {
  readonly reporter: 'text' | 'json' | 'ndjson' | 'html';
  readonly maxUnknown?: number;
  readonly minFidelity?: number;
  readonly jobs?: number;
}

export function register(command: Command): void {
  const does = 'how to print the report; `ndjson` has a line per record, `html` is a page with them';
  reporterOption(serviceNameOption(command), ['text', 'json', 'ndjson', 'html'], { does })
    .argument(
      '<log...>',
      'recordings, events as NDJSON, HAR, access logs or curl command lines; - for standard input',
    )
    .option('-e, --edge <file>', 'edge file under test', 'edge.yaml')
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
    .action(async (logs: string[], options: Options) => {
      process.exitCode = await runReplay(logs, options);
    });
}

async function runReplay(logs: readonly string[], options: Options): Promise<number> {
  if (options.minFidelity !== undefined && options.against === undefined)
    throw new FileError('--min-fidelity needs the configuration that made the log: give it with --against');
  const edges = await loadEdges(options);
  if (edges === null) return EXIT.configInvalid;
  const { candidate, current } = edges;
  const running = replay(candidate.edge, current?.edge ?? null);
  const out = pieceWriter(1);
  const isNdjson = options.reporter === 'ndjson';
  const page = options.reporter === 'html' ? await pageOf(logs, options) : null;
  const tell = isNdjson ? (each: Replayed) => out.write(`${JSON.stringify(each)}\n`) : page?.take;
  const isOrderless = candidate.edge.isOrderless && current?.edge.isOrderless !== false;
  // The records of a page are kept here.
  const jobs = isOrderless && page === null ? (options.jobs ?? jobsThatPay(logs)) : 1;
  const threads = jobs > 1 ? (await import('./replay_threads.ts')).replayThreads : null;
  const { edge, against, ip, adoptHosts, hashKey, serviceName } = options;
  const judging = {
    edge,
    ...(against && { against }),
    ...(ip && { ip }),
    ...(adoptHosts && { adoptHosts }),
    ...(hashKey && { hashKey }),
    ...(serviceName && { serviceName }),
  };
  const parts: ReplaySummary[] = [];
  for (const log of logs) {
    const begin = threads && (() => threads(jobs, judging, isNdjson ? out.write : null));
    parts.push(...(await readLog(log, readerInto(running, ip, tell), begin)));
  }
  const summary = parts.length === 0 ? running.summary() : mergeReplays([running.summary(), ...parts]);
  out.write(
    page === null ? reportOf(summary, options, candidate.placeOf) : page.text(summary, candidate.placeOf),
  );
  out.close();
  return exitCodeOf(summary, options);
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

/** Reads a log, on threads where each line can be judged alone; returns their summaries. */
async function readLog(
  log: string,
  reader: LogReader,
  begin: (() => ReplayThreads) | null,
): Promise<readonly ReplaySummary[]> {
  let threads: ReplayThreads | null = null;
  try {
    await eachPiece(log, (piece, firstLine) => {
      if (firstLine === 1 && begin !== null && isLineByLine(piece)) threads = begin();
      return threads === null ? linesOfPiece(piece, firstLine, reader.line) : threads.take(piece, firstLine);
    });
  } catch (error) {
    throw new FileError(fileFailure('read', log, error));
  }
  reader.end();
  // Assigned in a callback, which the type checker does not track.
  return (threads as ReplayThreads | null)?.end() ?? [];
}

/** Starting a thread takes about as long as judging this much of a log. */
const MIN_BYTES_PER_THREAD = 32 * 1_024 * 1_024;
/** Each thread takes about 60 MB; more threads only on request, to stay below 300 MB. */
const MAX_THREADS = 3;

function jobsThatPay(logs: readonly string[]): number {
  const bytes = logs.reduce((sum, log) => sum + (statSync(log, { throwIfNoEntry: false })?.size ?? 0), 0);
  return Math.max(1, Math.min(Math.floor(bytes / MIN_BYTES_PER_THREAD), availableParallelism(), MAX_THREADS));
}

function reportOf(summary: ReplaySummary, { reporter }: Options, placeOf: PlaceOf): string {
  if (reporter === 'text') return replayText(summary, placeOf);
  return reporter === 'json' ? `${JSON.stringify(summary, null, 2)}\n` : `${JSON.stringify({ summary })}\n`;
}

function exitCodeOf(summary: ReplaySummary, { maxUnknown, minFidelity }: Options): number {
  const { records, changed, unknown, fidelity } = summary;
  if (records === 0) return EXIT.nothingSelected;
  if (changed > 0) return EXIT.differs;
  if (maxUnknown !== undefined && unknown * 100 > maxUnknown * records) return EXIT.unknown;
  if (minFidelity !== undefined && (fidelity === null || fidelity.share * 100 < minFidelity)) {
    return EXIT.gateMissed;
  }
  return EXIT.ok;
}

function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text === '' || !(percent >= 0 && percent <= 100)) {
    throw new InvalidArgumentError('expected a percentage from 0 to 100.');
  }
  return percent;
}

const PIECE_UNITS = 1 << 16;

/**
 * Writes text to an open file in large chunks, synchronously: a stream would buffer in memory what a slow
 * pipe does not take.
 */
export function pieceWriter(file: number): {
  readonly write: (text: string) => void;
  readonly close: () => void;
} {
  let waiting = '';
  const flush = () => {
    let bytes: Buffer = Buffer.from(waiting);
    waiting = '';
    while (bytes.length > 0) bytes = bytes.subarray(written(file, bytes));
  };
  return {
    write: (text) => {
      waiting += text;
      if (waiting.length > PIECE_UNITS) flush();
    },
    close: flush,
  };
}

/** A pipe with a slow reader fails with EAGAIN; the write is repeated. */
function written(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      return 0;
    }
    // The write bypasses the stream of standard output, and so its listener.
    return exitOnOutputError(error as NodeJS.ErrnoException);
  }
}
