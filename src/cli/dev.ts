import { type Command, InvalidArgumentError } from 'commander';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { type EdgeOfFile, type Listening, edgeOf, usable } from '../edgeproof.ts';
import { type EventSink, ndjsonSink } from '../events/ndjson.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, loadConfig } from './load_config.ts';
import { requestLine } from './request_line.ts';
import { wantsColor } from './terminal.ts';
import { watchFile } from './watch.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly strictPort?: boolean;
  readonly events?: string;
  readonly watch: boolean;
  readonly poll?: boolean;
}

const DRAIN_MS = 10_000;

export function register(program: Command): void {
  program
    .command('dev')
    .description('Run a local ingress on an edge file; it is reloaded when it is saved')
    .argument('[file]', 'edge file', 'edge.yaml')
    .option(
      '-p, --port <port>',
      'port to listen on; the next free one is taken when it is in use',
      readPort,
      8080,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--strict-port', 'fail when the port is in use')
    .option('--events <file>', 'append events as NDJSON to a file, or - for standard output')
    .option('--no-watch', 'do not reload when the file changes')
    .option('--poll', 'look for changes by polling, for file systems that send no notice')
    .action(async (file: string, options: Options) => {
      process.exitCode = await dev(file, options);
    });
}

async function dev(file: string, options: Options): Promise<number> {
  // Events may go to standard output; what people read then goes beside it.
  const out = options.events === '-' ? process.stderr : process.stdout;
  const color = wantsColor(out);
  const say = (text: string): void => void out.write(`${text}\n`);
  let sink: EventSink | null = null;
  let listening: Listening;
  let edge: EdgeOfFile;
  try {
    const checked = await loadConfig(file);
    sayFindings(checked.diagnostics, color, say);
    if (hasErrors(checked.diagnostics)) return EXIT.configInvalid;
    sink = options.events === undefined ? null : await ndjsonSink(options.events);
    edge = edgeOf(usable(checked), {
      adoptLoopback: true,
      onEvent: (event, explain) => {
        sink?.write(event);
        const explanation = explain();
        const time = new Date();
        const tookMs = time.getTime() - explanation.startMs;
        say(requestLine(explanation, event.object, { time, tookMs }, color));
      },
    });
    listening = await edge.listen(options);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof FileError ? EXIT.usage : EXIT.runtime;
  }
  sayReady(edge, listening, options, file, say);
  const watcher = options.watch
    ? watchFile(file, () => void reload(edge, file, color, say), options.poll === true)
    : null;
  const code = await untilStopped(say);
  watcher?.close();
  const { cut } = await listening.close(DRAIN_MS);
  if (cut > 0) say(`${cut} connections were cut after ${DRAIN_MS / 1_000} s`);
  await sink?.close();
  return code;
}

function sayReady(
  edge: EdgeOfFile,
  { url, port }: Listening,
  options: Options,
  file: string,
  say: (text: string) => void,
): void {
  const routes = Object.values(edge.config.edges.https).reduce((sum, each) => sum + each.routes.length, 0);
  say(`\n  edgeproof  ready in ${Math.round(performance.now())} ms  ${url}`);
  if (port !== options.port && options.port !== 0)
    say(`  port ${options.port} is in use; this is the next free one`);
  for (const each of Object.values(edge.config.edges.https)) {
    for (const hostport of each.hostports) {
      const host = hostport.replace(/:\d+$/, '');
      const reached = host.endsWith('localhost')
        ? `http://${host}:${port}/`
        : `curl -H 'Host: ${host}' ${url}/`;
      say(`  ➜  ${hostport.padEnd(24)} ${reached}`);
    }
  }
  say(`  ${file}: ${routes} routes${options.watch ? ', reloaded on save' : ''}\n`);
}

/** Swaps the configuration whole; a file with errors changes nothing. */
async function reload(
  edge: EdgeOfFile,
  file: string,
  color: boolean,
  say: (text: string) => void,
): Promise<void> {
  try {
    const next = await loadConfig(file);
    sayFindings(next.diagnostics, color, say);
    if (hasErrors(next.diagnostics)) {
      say(`${file} has errors: still serving revision ${edge.runtime.revision()}`);
      return;
    }
    const began = performance.now();
    edge.swapTo(usable(next));
    say(
      `${file} changed: revision ${edge.runtime.revision()} is live in ${(performance.now() - began).toFixed(1)} ms`,
    );
  } catch (error) {
    say(
      `${error instanceof Error ? error.message : String(error)}: still serving revision ${edge.runtime.revision()}`,
    );
  }
}

function sayFindings(diagnostics: readonly Diagnostic[], color: boolean, say: (text: string) => void): void {
  if (diagnostics.length > 0) say(renderDiagnostics(diagnostics, { color }).trimEnd());
}

/** Waits for the signal to stop; a second one ends the process at once. */
function untilStopped(say: (text: string) => void): Promise<number> {
  return new Promise((resolve) => {
    const stop = (code: number) => {
      say('draining; once more to stop at once');
      for (const signal of ['SIGTERM', 'SIGINT'] as const)
        process.once(signal, () => process.exit(EXIT.interrupted));
      resolve(code);
    };
    process.once('SIGTERM', () => stop(EXIT.ok));
    process.once('SIGINT', () => stop(EXIT.ok));
  });
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return Number(text);
}
