import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type EdgeOfFile, type EdgeOptions, type Listening, usable } from '../edgeproof.ts';
import { type EventFilter, compileEventFilter } from '../events/filter.ts';
import { type LostEvents, lostEvents } from '../events/lost.ts';
import { placed } from './expression_error.ts';
import { type EventSink, filtered } from '../events/ndjson.ts';
import { eventSink } from './event_sink.ts';
import { requestLog } from './request_log.ts';
import type { DevelopmentProvider } from './development_provider.ts';
import { EXIT } from './exit_codes.ts';
import { hotKeys } from './hot_keys.ts';
import { aboutStreams, nameHere } from './stream_options.ts';
import type { DraftFiles } from './draft_thread.ts';
import { type VerbInspector, decidingOf, inspectorOf } from './inspector.ts';
import { type Recording, recordingOf } from './recording.ts';
import { ENDING, cutLine, untilShutdown } from './shutdown.ts';
import { type Voice, printFindings, voiceTo } from './voice.ts';
import { lookingAfter, nameIn, upstreamsOfEdge } from './upstream_watch.ts';
import type { LastReading } from './watch.ts';
import { reload, watchSource } from './reload.ts';
import { movedLine } from './api_port.ts';
import { endingWith, isQuiet, isWorker, untilOrdered } from './workers.ts';
import { workerSink } from './worker_events.ts';
import { sharedState } from './shared_options.ts';
import { type Sharing, loadWith, providerOf } from './ingress_sharing.ts';
import { limitHeap } from './heap_limit.ts';
import { aboutAgents } from './agent_options.ts';
import { type EdgeMaking, type EdgeSetup, type LiveEdge, listeningOf, makeEdge } from './ingress_edge.ts';
import type { IngressOptions } from './ingress_options.ts';
import { otlpExport } from './otlp_option.ts';
import { ignoreClosedOutput, stderr, stdout } from './output.ts';

/** The configuration source of a local ingress; its file is watched. */
export interface IngressSource extends EdgeMaking {
  readonly verb: 'dev' | 'http';
  readonly file: string | null;
  /** Reads and checks it; throws FileError. */
  readonly load: () => Promise<Checked>;
  /** How drafts of its files are read. */
  readonly drafts: DraftFiles;
  readonly adoptHosts: NonNullable<EdgeOptions['adoptHosts']>;
  /** Starts the development identity provider, for verbs that have one. */
  readonly provider?: (config: EdgeConfig) => Promise<DevelopmentProvider | null>;
  /** Lines about what was replaced when the source was last loaded. */
  readonly replaced?: () => readonly string[];
  /** Lines printed below the ready line. */
  readonly about: (edge: EdgeOfFile, listening: Listening) => readonly string[];
}

/** A source that knows which other files it was made of when it was last read. */
interface WatchedSource extends IngressSource {
  readonly lastReading: () => LastReading;
}

/** Serves until a signal stops it, and returns the exit code. */
export function runIngress(given: IngressSource, options: IngressOptions): Promise<number> {
  return isWorker ? endingWith(() => runShared(given, options)) : runShared(given, options);
}

async function runShared(given: IngressSource, options: IngressOptions): Promise<number> {
  const joined = isWorker ? await (await import('./worker_sharing.ts')).joinFirst() : null;
  const load = loadWith(given.load, options, joined);
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
  const out = options.events === '-' ? stderr : stdout;
  const voice = voiceTo(out.stream());
  ignoreClosedOutput();
  if (options.workers > 1 && !isWorker) return runWorkers(source, options, voice);
  const shared = (await sharedState(options, voice.say)) ?? joined?.state ?? null;
  return runHere(source, options, voice, { joined, shared }).finally(() => {
    void shared?.close();
  });
}

async function sinkFor(place: string, lost: LostEvents, { say }: Voice): Promise<EventSink> {
  return isWorker ? workerSink(lost) : eventSink(place, { lost, say });
}

async function runHere(
  source: WatchedSource,
  options: IngressOptions,
  voice: Voice,
  { joined, shared }: Sharing,
): Promise<number> {
  limitHeap();
  const lost = lostEvents();
  let sink: EventSink | null = null;
  let listening: Listening;
  let live: LiveEdge | null = null;
  let recording: Recording | null = null;
  let inspector: VerbInspector | null = null;
  let provider: DevelopmentProvider | null = null;
  let otlp: EdgeSetup['otlp'] | null = null;
  let about: readonly string[] = [];
  const upstreams = upstreamsOfEdge(() => live, { ...source, ...options, ...(isQuiet ? SILENT : voice) });
  try {
    const checked = await source.load();
    const { filter, findings: inFilter } = eventFilterOf(options);
    const findings = [...checked.diagnostics, ...inFilter];
    if (!isQuiet || hasErrors(findings)) printFindings(findings, voice);
    if (hasErrors(findings)) return EXIT.configInvalid;
    sink = options.events === undefined ? null : filtered(await sinkFor(options.events, lost, voice), filter);
    recording = await recordingOf(() => live?.edge.config ?? usable(checked).config, options);
    provider = await providerOf(source, usable(checked).config, joined);
    otlp = otlpExport(options, usable(checked).config.service_name, voice.say);
    const deciding = await decidingOf(usable(checked).config, source, options);
    inspector = isWorker ? null : await inspectorOf(source, options, source.lastReading, deciding);
    const log = requestLog(voice, { nameOf: nameIn(() => live), unreached: upstreams.missed });
    const setup = { deciding, sink, recording, inspector, provider, lost, otlp, log, joined, shared };
    live = await makeEdge(usable(checked), source, options, setup, voice);
    await shared?.join(live.edge.runtime.logins);
    listening = await live.edge.listen({ ...listeningOf(live, options, voice), waits: upstreams.missed });
    about = [...((await inspector?.listen(listening)) ?? [])];
  } catch (error) {
    await inspector?.close();
    await live?.close();
    await otlp?.close();
    // Node treats a file that is left to the garbage collector as an error.
    await recording?.close();
    throw error;
  }
  const made = { ...live, replace: lookingAfter(live.replace, upstreams) };
  if (!isQuiet) printReady(made.edge, listening, source, options, voice, about);
  const agentLines = aboutAgents(listening, made.authtoken ?? options.authtoken ?? 'any');
  for (const line of [...made.lines, ...agentLines, ...(provider?.lines ?? [])]) voice.say(`  ${line}`);
  if (!isQuiet) upstreams.look();
  const watcher = options.watch && source.file !== null ? watchSource(made, source, voice, options) : null;
  const again =
    source.file === null ? null : () => void reload(made, source, voice, `${source.file} read again`);
  const keys = isWorker ? null : hotKeys({ url: listening.url, reload: again, ...voice });
  const code = await (isWorker ? untilOrdered(listening.families) : untilShutdown(voice.say));
  keys?.close();
  upstreams.close();
  watcher?.close();
  // Pages end at once; requests in flight may take their time.
  await inspector?.close();
  const { cut } = await listening.close(options.drain);
  if (cut > 0) voice.say(cutLine(cut, options.drain));
  await made.close();
  await otlp.close();
  await sink?.close();
  await recording?.close();
  await provider?.close();
  return code;
}

/** The filter of `--event-filter`, null without the option or if it has errors; and findings in its text. */
function eventFilterOf({ eventFilter: text }: IngressOptions): {
  readonly filter: EventFilter | null;
  readonly findings: readonly Diagnostic[];
} {
  if (text === undefined) return { filter: null, findings: [] };
  const filter = compileEventFilter(text);
  if (!('diagnostics' in filter)) return { filter, findings: [] };
  return { filter: null, findings: placed(filter.diagnostics, { name: '--event-filter', text }) };
}

const SILENT = { say: (): void => undefined };

/** Serves with several processes; this one only supervises them. */
async function runWorkers(source: IngressSource, options: IngressOptions, voice: Voice): Promise<number> {
  const { workers, events, record, drain, adminPort, adminHost, agents, inspector } = options;
  const { say } = voice;
  const isInspected = inspector !== undefined && inspector !== false;
  if (record !== undefined || agents !== undefined || isInspected || source.makeEdge !== undefined) {
    stderr.write('--workers cannot be combined with --record, --agents, --inspector or --api\n');
    return EXIT.usage;
  }
  const { config, diagnostics } = await source.load();
  const findings = [...diagnostics, ...eventFilterOf(options).findings];
  if (config === null || hasErrors(findings)) {
    printFindings(findings, voice);
    return EXIT.configInvalid;
  }
  const [{ superviseWorkers }, { sharingWith }, { stateHub }] = await Promise.all([
    import('./supervision.ts'),
    import('./worker_sharing.ts'),
    import('../shared_state/hub.ts'),
  ]);
  const provider = (await source.provider?.(config)) ?? null;
  const lost = lostEvents();
  const sink = events === undefined ? null : await eventSink(events, { lost, say });
  for (const line of provider?.lines ?? []) say(`  ${line}`);
  const began = sharingWith(stateHub(Date.now), provider);
  const admin = adminPort === undefined ? null : { host: adminHost, port: adminPort };
  const own = { sink, lost, say, began, signals: ENDING, drainMs: drain, admin };
  try {
    return await superviseWorkers(workers, own);
  } finally {
    await sink?.close();
    await provider?.close();
  }
}

function printReady(
  edge: EdgeOfFile,
  listening: Listening,
  source: IngressSource,
  options: IngressOptions,
  { say }: Voice,
  further: readonly string[],
): void {
  const { url, port } = listening;
  say(`\n  edgeproof  ready in ${Math.round(performance.now())} ms  ${url}`);
  for (const line of movedLine('port', options.port, port)) say(`  ${line}`);
  const nameOf = source.adoptHosts === 'loopback' ? nameHere : undefined;
  const streams = aboutStreams(edge.config, listening, nameOf);
  for (const line of [...source.about(edge, listening), ...streams, ...further]) say(`  ${line}`);
  for (const line of source.replaced?.() ?? []) say(`  ${line}`);
  if (source.file !== null && source.file !== '-' && options.watch)
    say(`  ${source.file} is reloaded on save`);
  say('');
}
