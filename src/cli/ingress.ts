import { DRAIN_MS } from '../io/listener_limits.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import {
  type EdgeOfFile,
  type EdgeOptions,
  type Listening,
  type UsableConfig,
  edgeOf,
  usable,
} from '../edgeproof.ts';
import { compileEventFilter } from '../events/filter.ts';
import { type LostEvents, lostEvents } from '../events/lost.ts';
import { type EventSink, filtered, ndjsonSink } from '../events/ndjson.ts';
import { geoipDatabasesOf } from './geoip_databases.ts';
import { connectionLine, inMilliseconds, requestLine } from './request_line.ts';
import { type DevelopmentProvider, loginOptions } from './development_provider.ts';
import { environmentSecrets } from './environment_secrets.ts';
import { EXIT } from './exit_codes.ts';
import { aboutStreams, streamListening } from './stream_options.ts';
import { FileError } from '../project_files/load_config.ts';
import { type Recording, recordingOf } from './recording.ts';
import { ignoreClosedOutput, untilShutdown } from './shutdown.ts';
import { wantsColor } from './terminal.ts';
import { type LastReading, watchFile } from './watch.ts';
import { movedLine } from './api_port.ts';
import {
  isFirstWorker,
  isWorker,
  leave,
  loadFor,
  superviseWorkers,
  untilOrdered,
  workerSink,
} from './workers.ts';
import { limitHeap } from './heap_limit.ts';
import { counted, errorText } from '../diagnostics/message_text.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import { aboutAgents, agentListening, localAgents } from './agent_options.ts';
import type { IngressOptions } from './ingress_options.ts';
import { otlpExport } from './otlp_option.ts';

/** The configuration source of a local ingress; its file is watched. */
export interface IngressSource {
  readonly file: string | null;
  /** Reads and checks it; throws FileError. */
  readonly load: () => Promise<Checked>;
  readonly adoptHosts: NonNullable<EdgeOptions['adoptHosts']>;
  /** Starts the development identity provider, for verbs that have one. */
  readonly provider?: (config: EdgeConfig) => Promise<DevelopmentProvider | null>;
  /** Makes the edge, if not from the file alone. */
  readonly makeEdge?: (config: UsableConfig, options: EdgeOptions) => Promise<LiveEdge>;
  /** Lines printed below the ready line. */
  readonly about: (edge: EdgeOfFile, listening: Listening) => readonly string[];
}

/** An edge, and how its configuration is replaced. */
export interface LiveEdge {
  readonly edge: EdgeOfFile;
  readonly replace: (next: UsableConfig) => Promise<void>;
  /** Lines to print about it. */
  readonly lines: readonly string[];
  /** A token for agents, if they need one. */
  readonly authtoken?: string;
  /** Ports that edges may open, when others than the operator write edges. */
  readonly edgePorts?: (port: number) => boolean;
  /** Certificates of agent ingresses by host. */
  readonly ingressCertificate?: (host: string) => Promise<TlsCertificate | null>;
  readonly close: () => Promise<void>;
}

/** A source that knows which other files it was made of when it was last read. */
interface WatchedSource extends IngressSource {
  readonly lastReading: () => LastReading;
}

/** Serves until a signal stops it, and returns the exit code. */
export async function runIngress(given: IngressSource, options: IngressOptions): Promise<number> {
  const load = loadFor(options.workers, given.load);
  let last: LastReading = { files: [], beganMs: Date.now() };
  const source: WatchedSource = {
    ...given,
    load: async () => {
      last = { ...last, beganMs: Date.now() };
      const checked = await load();
      last = { ...last, files: checked.files };
      return checked;
    },
    lastReading: () => last,
  };
  // Events may go to standard output; messages for the user then go to standard error.
  const out = options.events === '-' ? process.stderr : process.stdout;
  const voice: Voice = { color: wantsColor(out), say: (text) => void out.write(`${text}\n`) };
  ignoreClosedOutput();
  if (options.workers > 1 && !isWorker) return runWorkers(source, options, voice);
  const code = await runHere(source, options, voice);
  if (isWorker) leave(code);
  return code;
}

async function runHere(source: WatchedSource, options: IngressOptions, voice: Voice): Promise<number> {
  limitHeap();
  const lost = lostEvents();
  let sink: EventSink | null = null;
  let listening: Listening;
  let live: LiveEdge | null = null;
  let recording: Recording | null = null;
  let provider: DevelopmentProvider | null = null;
  let otlp: EdgeSetup['otlp'] | null = null;
  try {
    const checked = await source.load();
    printFindings(checked.diagnostics, voice);
    if (hasErrors(checked.diagnostics)) return EXIT.configInvalid;
    const filter = options.eventFilter === undefined ? null : compileEventFilter(options.eventFilter);
    if (filter !== null && 'diagnostics' in filter) {
      printFindings(filter.diagnostics, voice);
      return EXIT.configInvalid;
    }
    const opened = async (path: string) => (isWorker ? workerSink() : ndjsonSink(path, { lost }));
    sink = options.events === undefined ? null : filtered(await opened(options.events), filter);
    recording = await recordingOf(usable(checked).config, options);
    provider = (await source.provider?.(usable(checked).config)) ?? null;
    if (provider !== null && isWorker) throw new FileError(ONE_PROVIDER);
    otlp = otlpExport(options, usable(checked).config.service_name, voice.say);
    live = await makeEdge(usable(checked), source, options, { sink, recording, provider, lost, otlp }, voice);
    const { host, port, strictPort = false } = options;
    const { edgePorts } = live;
    const front = {
      ...streamListening(options, voice.say),
      ...agentListening(options, live.ingressCertificate),
      ...(edgePorts && { edgePorts }),
    };
    listening = await live.edge.listen({ host, port, strictPort, ...front });
  } catch (error) {
    await live?.close();
    await otlp?.close();
    throw error;
  }
  const made = live;
  if (!isWorker || isFirstWorker) printReady(made.edge, listening, source, options, voice);
  const agentLines = aboutAgents(listening, made.authtoken ?? options.authtoken ?? 'any');
  for (const line of [...made.lines, ...agentLines, ...(provider?.lines ?? [])]) voice.say(`  ${line}`);
  const watcher =
    options.watch && source.file !== null
      ? watchFile(source.file, () => reload(made, source, voice), options.poll === true, source.lastReading)
      : null;
  const code = await (isWorker ? untilOrdered(listening.families) : untilShutdown(voice.say));
  watcher?.close();
  const { cut } = await listening.close(DRAIN_MS);
  if (cut > 0)
    voice.say(`${counted(cut, 'connection was', 'connections were')} closed after ${DRAIN_MS / 1_000} s`);
  await made.close();
  await otlp.close();
  await sink?.close();
  await recording?.close();
  await provider?.close();
  return code;
}

const ONE_PROVIDER = 'logins at the development identity provider need a single process; leave --workers out';

/** Serves with several processes; this one only supervises them. */
async function runWorkers(
  source: IngressSource,
  { workers, events, record, adminPort, agents }: IngressOptions,
  { say }: Voice,
): Promise<number> {
  if (record !== undefined || agents !== undefined || source.makeEdge !== undefined) {
    process.stderr.write('--workers cannot be combined with --record, --agents or --api\n');
    return EXIT.usage;
  }
  await source.load();
  const lost = lostEvents();
  const sink = events === undefined ? null : await ndjsonSink(events, { lost });
  const code = await superviseWorkers(workers, { sink, lost, say, adminPort: adminPort ?? null });
  await sink?.close();
  return code;
}

/** How a verb prints to its user. */
interface Voice {
  readonly color: boolean;
  readonly say: (text: string) => void;
}

/** What an edge is made with, besides its configuration. */
interface EdgeSetup {
  readonly sink: EventSink | null;
  readonly recording: Recording | null;
  readonly provider: DevelopmentProvider | null;
  readonly lost: LostEvents;
  readonly otlp: ReturnType<typeof otlpExport>;
}

async function makeEdge(
  config: ReturnType<typeof usable>,
  source: IngressSource,
  options: IngressOptions,
  { sink, recording, provider, lost, otlp }: EdgeSetup,
  { say, color }: Voice,
): Promise<LiveEdge> {
  const edgeOptions: EdgeOptions = {
    adoptHosts: source.adoptHosts,
    geoipDatabases: source.file === null ? [] : await geoipDatabasesOf(config.config, source.file),
    passUnsimulated: options.passUnsimulated === true,
    lostEvents: lost,
    ...(recording && { recordingSink: recording.sink }),
    login: loginOptions(process.env, provider),
    secrets: environmentSecrets(process.env),
    allowPrivateFetch: options.allowPrivateFetch === true,
    ...otlp.edge,
    onConnection: (event, explain) => {
      sink?.write(event);
      otlp.edge.onConnection?.(event, explain);
      const explanation = explain();
      say(connectionLine(explanation, event.object, endOf(explanation), color));
    },
    onEvent: (event, explain) => {
      sink?.write(event);
      otlp.edge.onEvent?.(event, explain);
      const explanation = explain();
      say(requestLine(explanation, event.object, endOf(explanation), color));
    },
  };
  if (source.makeEdge !== undefined) return source.makeEdge(config, edgeOptions);
  const agents =
    options.agents === undefined ? null : await localAgents(config.config.service_name, options, say);
  const edge = edgeOf(config, { ...edgeOptions, ...(agents && { agents }) });
  const replace = async (next: UsableConfig): Promise<void> => void edge.swapTo(next);
  return { edge, replace, lines: [], close: async () => undefined };
}

/** The end of an exchange or a connection, which is now. */
function endOf({ startMs }: { readonly startMs: number }): { readonly time: Date; readonly tookMs: number } {
  const time = new Date();
  return { time, tookMs: time.getTime() - startMs };
}

function printReady(
  edge: EdgeOfFile,
  listening: Listening,
  source: IngressSource,
  options: IngressOptions,
  { say }: Voice,
): void {
  const { url, port } = listening;
  say(`\n  edgeproof  ready in ${Math.round(performance.now())} ms  ${url}`);
  for (const line of movedLine('port', options.port, port)) say(`  ${line}`);
  for (const line of [...source.about(edge, listening), ...aboutStreams(edge.config, listening)])
    say(`  ${line}`);
  if (source.file !== null && options.watch) say(`  ${source.file} is reloaded on save`);
  say('');
}

/** Swaps the whole configuration; a file with errors changes nothing. */
async function reload({ edge, replace }: LiveEdge, source: IngressSource, voice: Voice): Promise<void> {
  const { say } = voice;
  const still = () => `still serving revision ${edge.runtime.revision()}`;
  try {
    const next = await source.load();
    printFindings(next.diagnostics, voice);
    if (hasErrors(next.diagnostics)) {
      say(`${source.file} has errors: ${still()}`);
      return;
    }
    const began = performance.now();
    await replace(usable(next));
    const took = inMilliseconds(performance.now() - began);
    say(`${source.file} changed: revision ${edge.runtime.revision()} is live in ${took}`);
  } catch (error) {
    say(`${errorText(error)}: ${still()}`);
  }
}

function printFindings(diagnostics: readonly Diagnostic[], { say, color }: Voice): void {
  if (diagnostics.length > 0) say(renderDiagnostics(diagnostics, { color }).trimEnd());
}
