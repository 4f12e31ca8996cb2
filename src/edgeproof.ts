import { answered } from './integrations/handle.ts';
import { type Adapters, adaptersOf } from './integrations/methods.ts';
import { Decided, type Decision } from './decision.ts';
import type { Answers, Connection, RequestHead, World } from './engine/contract.ts';
import type { Configuration, Exchange } from './engine/exchange.ts';
import type { StreamExchange } from './engine/stream.ts';
import type { RefusedHead } from './engine/request_head.ts';
import { type ClientFacts, type RequestLike, connectionFor, headOf } from './engine/request_like.ts';
import { type Step, traceOf } from './engine/trace.ts';
import { type Diagnostic, hasErrors } from './diagnostics/diagnostic.ts';
import { renderDiagnostics } from './diagnostics/render.ts';
import { refuseExchange } from './edge/compile.ts';
import { beginGiven, beginStated } from './edge/connect.ts';
import type { Checked } from './edge/document/check.ts';
import { checkWholeEdge } from './edge/semantic_checks.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import { assembleFrom } from './project_files/assemble.ts';
import type { LoginOptions } from './edge/login_config.ts';
import type { GeoipDatabase } from './policy/env/facts.ts';
import { type Explanation, type StreamExplanation, explanationOf } from './edge/explain.ts';
import { swapsOf } from './edge/swaps.ts';
import { type EdgeRuntime, edgeRuntime } from './edge/runtime.ts';
import type { SecretSource } from './edge/secrets.ts';
import { type Family, createMetrics, openMetrics } from './server/admin_metrics.ts';
import { lostFamily } from './server/process_metrics.ts';
import { type LostEvents, attempting, lostEvents } from './events/lost.ts';
import type { PortProblem } from './server/stream_listeners.ts';
import { type Wiring, connectionOf } from './engine/drivers/engine_exchange_port.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from './events/catalogue.ts';
import { type IdMaker, idMaker } from './events/identifiers.ts';
import { projectHttpRequestComplete } from './events/project.ts';
import { projectHttpConnectionClosed, projectTcpConnectionClosed } from './events/tcp_connection.ts';
import type { ListenOptions, Listening, LiveWiring } from './listening.ts';
import type { Agents } from './tunnel/agents.ts';
import type { RecordingSink } from './replay/recording_sink.ts';
import { OK_UPSTREAM, decideWithConstants } from './engine/drivers/constant.ts';
import type { ScriptedClients, ScriptedUpstream } from './engine/drivers/scripted.ts';

export type { Decision } from './decision.ts';
export type { ListenOptions, Listening } from './listening.ts';

export interface EdgeOptions {
  /** Milliseconds since the epoch; default the system clock. */
  readonly clock?: () => number;
  /** Uniform in [0, 1); default the system's chance. */
  readonly random?: () => number;
  /** Answers `handle` instead of the network; with it, `handle` does no I/O. */
  readonly upstream?: ScriptedUpstream;
  /**
   * Called once for each request that `handle` or the listener has completed; `explain` returns its steps.
   */
  readonly onEvent?: (event: HttpRequestCompleteEvent, explain: () => Explanation) => void;
  /** Called once for each closed connection of a TLS or TCP edge. */
  readonly onConnection?: (event: TcpConnectionClosedEvent, explain: () => StreamExplanation) => void;
  /** Called once for each closed connection that carried HTTP. */
  readonly onHttpConnection?: (event: TcpConnectionClosedEvent) => void;
  /** Counts events that could not be made or written; `metrics` includes the counts. */
  readonly lostEvents?: LostEvents;
  /** Receives every exchange of `listen`, to record it. */
  readonly recordingSink?: RecordingSink;
  /** Which unknown hosts are treated as hosts of the only edge; default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  /** Address databases, used for what the configuration itself does not say. */
  readonly geoipDatabases?: readonly GeoipDatabase[];
  /** Secrets that policies read with `secrets.get('vault', 'name')`; traces and events show `***` instead. */
  readonly secrets?: SecretSource;
  /** Lets `http-request` of policies reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** Lets requests pass policy actions that are not simulated (`owasp-crs-*`, `ai-gateway`); default false: 501. */
  readonly passUnsimulated?: boolean;
  /** Keys of login sessions, and what replaces managed OAuth apps. */
  readonly login?: LoginOptions;
  /**
   * Answers control requests, OpenID providers and XML signatures in `handle` instead of the network; control
   * requests while it listens, too.
   */
  readonly clients?: ScriptedClients;
  /**
   * Whether requests that begin now are traced: their `traceparent` is continued and passed to the upstream, and
   * explanations have `trace`. Default: they are not, and `traceparent` passes unchanged.
   */
  readonly tracing?: () => boolean;
  /** Agents whose tunnels are backends and endpoints of this edge; `listen` opens their port. */
  readonly agents?: Agents;
  /** Says which tunnels are online where there are no `agents`; default none. */
  readonly tunnels?: NonNullable<World['tunnels']>;
}

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
  readonly pooled: NonNullable<UsableConfig['pooled']>;
  /** Replaces the parts that others than the operator add to the configuration: the endpoints of agents. */
  extend(parts: readonly EdgeConfig[]): void;
  /** The data behind `metrics`. */
  families(): Family[];
  /**
   * Resolves when all listeners have opened and closed the ports of the last configuration, with those that
   * failed.
   */
  settled(): Promise<readonly PortProblem[]>;
}

/** Creates the edge of a checked configuration. */
export function edgeOf(checked: UsableConfig, options: EdgeOptions): EdgeOfFile {
  const { clock = Date.now, random = Math.random, agents } = options;
  const { tunnels = agents?.tunnelsOf, tracing: traces } = options;
  const world: World = { nowMs: clock, random, ...(tunnels && { tunnels }), ...(traces && { traces }) };
  const runtime = edgeRuntime(checked.config, world, options);
  const { metrics, attempted } = counting(options);
  const newEventId = idMaker('ev', () => world.random());
  /** Listeners to notify of every new configuration. */
  const swapped: LiveWiring['swapped'] = new Set();
  let settling: Promise<unknown> = Promise.resolve();
  const places: Places = new WeakMap([[runtime.current(), checked.locate]]);

  const { emit, emitStream, emitConnection, isHeard } = reporting(options, newEventId, places, attempted);

  function finished(exchange: Exchange): void {
    metrics.record(exchange, world.nowMs());
    if (isHeard) attempted(() => emit(exchange));
  }

  const { current, swapTo, extend } = swapsOf(runtime, checked, (compiled, { locate }) => {
    places.set(compiled, locate);
    settling = Promise.all(Array.from(swapped, ({ refresh }) => refresh()));
  });
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
      metrics.record(exchange, world.nowMs());
      return { response, event: emit(exchange), trace: traceOf(exchange) };
    },
    swap: (config) => void swapTo(usable(checkGiven(config, options))),
    swapTo,
    extend,
    settled: () => settling.then(() => Array.from(swapped).flatMap(({ missing }) => missing())),
    metrics: () => openMetrics(metrics.families()),
    families: metrics.families,
    ...adaptersOf(wiring, world, () => Object.values(current().config.edges.https)),
    listen: async (listenOptions = {}) => {
      const { listen } = await import('./listening.ts');
      const { recordingSink: sink = null, clients = {} } = options;
      const live = { wiring, runtime, emitStream, emitConnection, swapped, sink, clients, metrics };
      return listen(listenOptions, { ...live, agents: agents ?? null, edge });
    },
  };
  return edge;
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

/** Counts exchanges and lost events. */
function counting({ lostEvents: lost = lostEvents(() => undefined) }: EdgeOptions) {
  const metrics = createMetrics();
  return {
    metrics: { ...metrics, families: () => [...metrics.families(), lostFamily(lost.counts())] },
    attempted: attempting(lost),
  };
}

/** Source positions of each configuration that an exchange may still be using. */
type Places = WeakMap<Configuration, Checked['locate']>;

type Attempted = ReturnType<typeof counting>['attempted'];
/** Makes the events of completed exchanges and passes them on. Without a listener no event is made. */
function reporting(options: EdgeOptions, newEventId: IdMaker, places: Places, attempted: Attempted) {
  const { recordingSink: sink, onEvent, onConnection, onHttpConnection: onHttp, clock = Date.now } = options;
  const emitConnection: NonNullable<LiveWiring['emitConnection']> = (facts, bytes) =>
    attempted(() => onHttp?.(projectHttpConnectionClosed(connectionOf(facts), bytes, clock(), newEventId)));
  return {
    isHeard: sink !== undefined || onEvent !== undefined,
    emit: (exchange: Exchange): HttpRequestCompleteEvent => {
      const event = projectHttpRequestComplete(exchange, newEventId);
      sink?.finished(exchange, event.object);
      onEvent?.(event, () => explanationOf(exchange, places.get(exchange.configuration)!));
      return event;
    },
    emitStream: (exchange: StreamExchange): void =>
      attempted(() =>
        onConnection?.(projectTcpConnectionClosed(exchange, newEventId), () =>
          explanationOf(exchange, places.get(exchange.configuration)!),
        ),
      ),
    emitConnection: onHttp === undefined ? null : emitConnection,
  };
}

/** Begins the exchange of a request that came over no connection: its client is stated, its handshake too. */
function beginFrom(runtime: EdgeRuntime, head: RequestHead | RefusedHead, from: ClientFacts): Exchange {
  const { world } = runtime;
  return beginStated(runtime.current(), connectionFor(head, from, world.nowMs()), head, world);
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
