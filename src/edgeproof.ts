import { answered } from './integrations/handle.ts';
import { type Adapters, adaptersOf } from './integrations/methods.ts';
import { Decided, type Decision } from './decision.ts';
import type { Connection, RequestHead, World } from './engine/contract.ts';
import type { Steps } from './config_file/steps.ts';
import type { Answers } from './engine/questions.ts';
import type { Exchange } from './engine/exchange.ts';
import type { RefusedHead } from './engine/request_head.ts';
import { type ClientFacts, type RequestLike, connectionFor, headOf } from './engine/request_like.ts';
import { type Step, traceOf } from './engine/trace.ts';
import { type Diagnostic, hasErrors } from './diagnostics/diagnostic.ts';
import { renderDiagnostics } from './diagnostics/render.ts';
import { refuseExchange } from './edge/begin_exchange.ts';
import { beginGiven, beginStated } from './edge/connect.ts';
import type { Checked } from './edge/document/check.ts';
import { checkWholeEdge } from './edge/semantic_checks.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import { assembleFrom } from './project_files/assemble.ts';
import { type Explanation, explanationOf } from './edge/explain.ts';
import type { ExtensionChange } from './edge/extension.ts';
import { type Staged, swapsOf } from './edge/swaps.ts';
import { type EdgeRuntime, type RuntimeOptions, edgeRuntime } from './edge/runtime.ts';
import { type Family, openMetrics } from './server/admin_metrics.ts';
import type { PortProblem } from './server/stream_listeners.ts';
import type { Wiring } from './engine/drivers/engine_exchange_port.ts';
import type { HttpRequestCompleteEvent } from './events/catalogue.ts';
import { type IdMaker, idMaker } from './events/identifiers.ts';
import type { ListenOptions, Listening, LiveWiring } from './listening.ts';
import type { Inspected } from './listening_inspected.ts';
import { OK_UPSTREAM, decideWithConstants } from './engine/drivers/constant.ts';
import type { EdgeOptions } from './edge_options.ts';
import { type Places, type Watching, counting, remembering, reporting } from './reporting.ts';
import type { WatchedEdge } from './inspector/server/traffic_watch.ts';

export type { Decision } from './decision.ts';
export type { EdgeOptions } from './edge_options.ts';
export type { ListenOptions, Listening } from './listening.ts';

/** The configuration has errors; the message contains all findings with their places. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** All findings; the message has the errors among them. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    super(`the edge configuration has errors\n${renderDiagnostics(errors, { color: false })}`);
    this.diagnostics = diagnostics;
  }
}

export interface Handled {
  readonly response: Response;
  readonly event: HttpRequestCompleteEvent;
  readonly trace: readonly Step[];
}

export interface Edge extends Adapters {
  readonly config: EdgeConfig;
  readonly runtime: EdgeRuntime;
  /** Handles a whole request, including its upstream. */
  handle(request: Request, from?: ClientFacts): Promise<Handled>;
  /** Decides synchronously; every upstream answers with `upstream` (default an empty 200). */
  decide(
    request: RequestLike | RequestHead,
    from?: ClientFacts | Connection,
    upstream?: Answers['forward'],
  ): Decision;
  /** As `decide`, with an explanation of each step and its place in the source. */
  explain(request: RequestLike, from?: ClientFacts, upstream?: Answers['forward']): Explanation;
  /** Activates another configuration; throws ConfigError and changes nothing when it has errors. */
  swap(config: unknown): void;
  /** Counts of requests through `handle` and the listener, as OpenMetrics text. */
  metrics(): string;
  /**
   * Serves HTTP/1.1 and HTTP/2, and TLS and TCP if configured, on real sockets, by default on loopback;
   * throws when the address cannot be opened.
   */
  listen(options?: ListenOptions): Promise<Listening>;
}

/**
 * Makes an edge from a configuration object (the shape of the edge file). Throws ConfigError with all findings
 * when it has errors.
 */
export function createEdge(config: unknown, options: EdgeOptions = {}): Edge {
  return edgeOf(usable(checkGiven(config, options)), options);
}

/** Checks an object; files that it names are relative to the current folder. */
function checkGiven(value: unknown, options: EdgeOptions): Checked {
  return checkWholeEdge({ value }, { ...options, assemble: assembleFrom('.') });
}

/** A checked configuration without errors. */
export type UsableConfig = Checked & {
  readonly config: EdgeConfig;
  /** What the account imposes on endpoints that agents add; by default nothing. */
  readonly restrict?: (parts: EdgeConfig) => EdgeConfig;
  /** Names of the cloud endpoints that share their hosts with others; by default none. */
  readonly pooled?: ReadonlySet<string>;
};

/** Narrows a checked document to one without errors; throws ConfigError otherwise. */
export function usable(checked: Checked): UsableConfig {
  const { config } = checked;
  if (config === null || hasErrors(checked.diagnostics)) throw new ConfigError(checked.diagnostics);
  return { ...checked, config };
}

const NONE_POOLED: ReadonlySet<string> = new Set();

/** An edge whose configurations may come from files, with source positions. */
export interface EdgeOfFile extends Edge {
  /** Activates another configuration; returns what activates the present one again. */
  swapTo(next: UsableConfig): () => void;
  /** Compiles another configuration, which is activated later. */
  stage(next: UsableConfig): Staged;
  /** Compiles the large parts of another configuration with pauses, for the next swap. */
  ahead(next: UsableConfig): Steps<void>;
  readonly pooled: NonNullable<UsableConfig['pooled']>;
  /** Replaces the parts that others than the operator add to the configuration: the endpoints of agents. */
  extend(change: ExtensionChange): void;
  /** The data behind `metrics`. */
  families(): Family[];
  /**
   * Resolves when all listeners have opened and closed the ports of the last configuration, with those that
   * failed.
   */
  settled(): Promise<readonly PortProblem[]>;
}

/** What explanations with all details need. */
type Observing = Pick<RuntimeOptions, 'trace' | 'watch'>;

/** Creates the edge of a checked configuration. */
export function edgeOf(checked: UsableConfig, options: EdgeOptions & Observing): EdgeOfFile {
  const { agents, shared } = options;
  const world = worldOf(options);
  const runtime = edgeRuntime(checked.config, world, options);
  const { metrics, attempted } = counting(options);
  const newEventId = idMaker('ev', () => world.random());
  /** Listeners to notify of every new configuration. */
  const swapped: LiveWiring['swapped'] = new Set();
  let settling: Promise<unknown> = Promise.resolve();
  const places: Places = new WeakMap([[runtime.current(), remembering(checked.locate)]]);
  const watching: Watching = { watch: options.trafficWatch ?? null };
  const { emit, emitStream, emitConnection, opened, isHeard, explain, decision } = reporting(
    options,
    watching,
    world,
    newEventId,
    places,
    attempted,
  );

  function finished(exchange: Exchange): void {
    const endMs = metrics.record(exchange);
    if (isHeard()) attempted(() => emit(exchange, endMs));
  }

  const { current, swapTo, stage, ahead, extend } = swapsOf(runtime, checked, (compiled, { locate }) => {
    places.set(compiled, remembering(locate));
    settling = Promise.all(Array.from(swapped, ({ refresh }) => refresh()));
    watching.watch?.swapped();
  });
  const watched: WatchedEdge = { runtime, explain, decision, locate: (pointer) => current().locate(pointer) };
  watching.watch?.attach(watched);
  const decide = deciding(runtime, newEventId);
  const wiring = wiringOf(runtime, finished);
  const edge: EdgeOfFile = {
    get config() {
      return current().config;
    },
    get pooled() {
      return current().pooled ?? NONE_POOLED;
    },
    runtime,
    decide,
    explain: (request, from, upstream) =>
      explanationOf(decide(request, from, upstream).exchange, current().locate),
    handle: async (request, from = {}) => {
      const exchange = beginFrom(runtime, headOf(request), from);
      const response = await answered(exchange, request, options);
      return { response, event: emit(exchange, metrics.record(exchange))(), trace: traceOf(exchange) };
    },
    swap: (config) => void swapTo(usable(checkGiven(config, options))),
    swapTo,
    stage,
    ahead,
    extend,
    settled: () => settling.then(() => Array.from(swapped).flatMap(({ missing }) => missing())),
    metrics: () => openMetrics(metrics.families()),
    families: metrics.families,
    ...adaptersOf(wiring, world, () => Object.values(current().config.edges.https)),
    listen: (listenOptions = {}) => {
      const { recordingSink: sink = null } = options;
      const clients = { ...options.clients, ...(shared && { shared: shared.ask }) };
      const live = { wiring, runtime, emitStream, emitConnection, opened, swapped, sink, clients, metrics };
      const whole = { ...live, agents: agents ?? null, edge };
      return listenWith(listenOptions, whole, { watching, watched, options });
    },
  };
  return edge;
}

function worldOf({ clock = Date.now, random = Math.random, ...options }: EdgeOptions): World {
  const { tunnels = options.agents?.tunnelsOf, tracing: traces, shared } = options;
  return {
    nowMs: clock,
    random,
    ...(tunnels && { tunnels }),
    ...(traces && { traces }),
    ...(shared && { sharesState: true }),
  };
}

/** Opens the listeners, whose code is loaded now, with an inspector if it is asked for. */
async function listenWith(
  listenOptions: ListenOptions,
  live: Omit<LiveWiring, 'watch'>,
  inspected: Inspected,
): Promise<Listening> {
  const { listen } = await import('./listening.ts');
  const open = () => listen(listenOptions, { ...live, watch: inspected.watching.watch });
  const { inspector = false } = listenOptions;
  if (inspector === false) return open();
  const { listenInspected } = await import('./listening_inspected.ts');
  return listenInspected(listenOptions, inspected, open);
}

/** Decides with a constant upstream. */
function deciding(runtime: EdgeRuntime, newEventId: IdMaker): Edge['decide'] {
  return (request, from = {}, upstream = OK_UPSTREAM) => {
    const head = 'path' in request ? request : headOf(request);
    const begun =
      'client' in from
        ? beginGiven(runtime.current(), from, head, runtime.world)
        : beginFrom(runtime, head, from);
    return new Decided(decideWithConstants(begun, upstream), newEventId);
  };
}

/** Begins the exchange of a request that came over no connection: its client is stated, its handshake too. */
function beginFrom(runtime: EdgeRuntime, head: RequestHead | RefusedHead, from: ClientFacts): Exchange {
  const { world } = runtime;
  return beginStated(runtime.current(), connectionFor(head, from), head, world);
}

/** The wiring of request drivers; `finished` makes the event if there is a listener for it. */
function wiringOf(runtime: EdgeRuntime, finished: Wiring['finished']): Wiring {
  return {
    nowMs: () => runtime.world.nowMs(),
    branding: () => runtime.current().branding,
    begin: runtime.begin,
    refuse: (connection, head, reason) =>
      refuseExchange(runtime.current(), connection, head, runtime.world, reason),
    finished,
  };
}
