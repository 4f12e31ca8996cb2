import { type Command, InvalidArgumentError } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Checked } from '../edge/document/check.ts';
import { usable } from '../edgeproof.ts';
import { parseAddress } from '../net/address.ts';
import { type ReplayedEdge, replayedEdge } from '../recorder/decide.ts';
import { eachLine } from '../recorder/lines.ts';
import { logReader } from '../recorder/read_log.ts';
import { type Replay, type ReplaySummary, type Replayed, replay } from '../recorder/replay.ts';
import { type PlaceOf, replayText } from '../recorder/report_replay.ts';
import { addressBooksOf } from './address_books.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, loadConfig } from './load_config.ts';
import { wantsColor } from './terminal.ts';
import { pieceWriter } from './write_pieces.ts';

interface Options {
  readonly edge: string;
  readonly against?: string;
  readonly reporter: 'text' | 'json' | 'ndjson';
  readonly maxUnknown?: number;
  readonly minFidelity?: number;
  readonly ip?: string;
  readonly adoptHosts?: boolean;
}

export function register(program: Command): void {
  program
    .command('replay')
    .description('Decide the requests of a log anew: what a changed configuration would do otherwise')
    .argument('<log...>', 'recordings, events as NDJSON, HAR or curl command lines; - for standard input')
    .option('-e, --edge <file>', 'the configuration under test', 'edge.yaml')
    .option('--against <file>', 'the configuration that the log was made with')
    .option(
      '-r, --reporter <name>',
      'text, json, or ndjson with a line for each record',
      readReporter,
      'text',
    )
    .option('--max-unknown <percent>', 'exit with 7 when more records than this are unknown', readPercent)
    .option(
      '--min-fidelity <percent>',
      'exit with 8 when fewer records than this are reproduced',
      readPercent,
    )
    .option('--ip <address>', 'address of the client, where the log has none', readIp)
    .option('--adopt-hosts', 'take hosts that no edge names for the only edge')
    .action(async (logs: string[], options: Options) => {
      process.exitCode = await runReplay(logs, options);
    });
}

async function runReplay(logs: readonly string[], options: Options): Promise<number> {
  try {
    const candidate = await edgeOfFile(options.edge, options);
    const current = options.against === undefined ? null : await edgeOfFile(options.against, options);
    if (candidate === null || (current?.edge === undefined && options.against !== undefined)) {
      return EXIT.configInvalid;
    }
    const running = replay(candidate.edge, current?.edge ?? null);
    const out = pieceWriter(1);
    const tell =
      options.reporter === 'ndjson' ? (each: Replayed) => out.write(`${JSON.stringify(each)}\n`) : undefined;
    for (const log of logs) await readInto(running, log, tell, options.ip);
    const summary = running.summary();
    out.write(reportOf(summary, options, candidate.placeOf));
    out.close();
    return exitCodeOf(summary, options);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
}

interface Loaded {
  readonly edge: ReplayedEdge;
  readonly placeOf: PlaceOf;
}

async function edgeOfFile(path: string, options: Options): Promise<Loaded | null> {
  const checked: Checked = await loadConfig(path);
  if (hasErrors(checked.diagnostics)) {
    process.stderr.write(renderDiagnostics(checked.diagnostics, { color: wantsColor(process.stderr) }));
    return null;
  }
  const { config } = usable(checked);
  const edge = replayedEdge(config, {
    addressBooks: await addressBooksOf(config, path),
    adoptHosts: options.adoptHosts === true ? 'any' : 'none',
  });
  // What stands inside a text of the file is where the text is.
  const placeOf: PlaceOf = (pointer) => {
    for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const place = checked.locate(at);
      if (place !== null) return `${place.file}:${place.line}:${place.column} ${pointer.slice(at.length)}`;
    }
    return pointer;
  };
  return { edge, placeOf };
}

async function readInto(
  running: Replay,
  log: string,
  tell: ((each: Replayed) => void) | undefined,
  ip: string | undefined,
): Promise<void> {
  const client = ip === undefined ? null : parseAddress(ip);
  const reader = logReader({
    record: (observed) => {
      const isWithout = client !== null && observed.lost.has('client address');
      if (!isWithout) return running.take(observed, tell);
      const lost = new Set(observed.lost);
      lost.delete('client address');
      running.take({ ...observed, connection: { ...observed.connection, client }, lost }, tell);
    },
    problem: running.problem,
  });
  try {
    await eachLine(log, reader.line);
  } catch (error) {
    throw new FileError(`cannot read ${log}: ${error instanceof Error ? error.message : String(error)}`);
  }
  reader.end();
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

function readReporter(text: string): Options['reporter'] {
  if (text !== 'text' && text !== 'json' && text !== 'ndjson') {
    throw new InvalidArgumentError('a reporter is text, json or ndjson.');
  }
  return text;
}

function readPercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text === '' || !(percent >= 0 && percent <= 100)) {
    throw new InvalidArgumentError('a share is a number of percent from 0 to 100.');
  }
  return percent;
}

function readIp(text: string): string {
  if (parseAddress(text) === null) throw new InvalidArgumentError('it is not an IP address.');
  return text;
}
