import { type Adapters, adaptersOf } from './adapters/methods.ts';
import type { Answers, Connection, RequestHead, World } from './engine/contract.ts';
import type { Configuration, Exchange } from './engine/exchange.ts';
import type { StreamExchange } from './engine/stream.ts';
import type { RefusedHead } from './engine/request_head.ts';
import { type ClientFacts, type RequestLike, connectionOf, headOf } from './engine/request_like.ts';
import { type Step, traceOf } from './engine/trace.ts';
import { type Diagnostic, hasErrors } from './diagnostics/diagnostic.ts';
import { renderDiagnostics } from './diagnostics/render.ts';
import { refuseExchange } from './edge/compile.ts';
import type { Checked } from './edge/document/check.ts';
import { checkWholeEdge } from './edge/further_checks.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import type { LoginOptions } from './edge/gates.ts';
import type { AddressBook } from './expression/vocabulary/facts.ts';
import { type Explanation, explanationOf } from './edge/explain.ts';
import { type StreamExplanation, explanationOfStream } from './edge/explain_stream.ts';
import { type EdgeRuntime, edgeRuntime } from './edge/runtime.ts';
import type { SecretSource } from './edge/secrets.ts';
import { type Family, createMetrics, openMetrics } from './proxy/admin_metrics.ts';
import type { Wiring } from './proxy/plane.ts';
import type { HttpRequestCompleteEvent } from './events/catalogue.ts';
import { type IdMaker, idMaker } from './events/identifiers.ts';
import { projectHttpRequestComplete } from './events/project.ts';
import { type TcpConnectionClosedEvent, projectTcpConnectionClosed } from './events/tcp_connection.ts';
import type { ListenOptions, Listening } from './listening.ts';
import type { Tape } from './recorder/tape.ts';
import { OK_UPSTREAM, decideWithConstants } from './simulator/constants.ts';
import { type ScriptedHands, type ScriptedUpstream, runScripted } from './simulator/scripted.ts';

export type { ListenOptions, Listening } from './listening.ts';

export interface EdgeOptions {
  /** Milliseconds since the epoch; default the system clock. */
  readonly clock?: () => number;
  /** Uniform in [0, 1); default the system's chance. */
  readonly random?: () => number;
  /** Answers `handle` instead of the network; with it, `handle` does no I/O. */
  readonly upstream?: ScriptedUpstream;
  /** Called once for each request that `handle` or the listener has completed; `explain` tells it step by step. */
  readonly onEvent?: (event: HttpRequestCompleteEvent, explain: () => Explanation) => void;
  /** Called once for each connection of a TLS or TCP edge that is over. */
  readonly onConnection?: (event: TcpConnectionClosedEvent, explain: () => StreamExplanation) => void;
  /** Hears every exchange of `listen`, to record it. */
  readonly tape?: Tape;
  /** Which hosts that no edge names mean the only edge of the file; default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  /** Databases of addresses, asked for what the facts of the configuration do not say. */
  readonly addressBooks?: readonly AddressBook[];
  /** Secrets that policies read with `secrets.get('vault', 'name')`; `***` stands for them in traces and events. */
  readonly secrets?: SecretSource;
  /** Lets `http-request` of policies reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** Lets requests pass policy actions that are not simulated (`owasp-crs-*`, `ai-gateway`); default false: 501. */
  readonly passUnsimulated?: boolean;
  /** Keys of login sessions, and what stands in for managed OAuth apps. */
  readonly login?: LoginOptions;
  /**
   * Answers control requests, OpenID providers and XML signatures in `handle` instead of the network; control
   * requests while it listens, too.
   */
  readonly hands?: ScriptedHands;
}

/** A configuration that cannot be used; the message holds all findings, located. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(`the edge configuration has errors\n${renderDiagnostics(diagnostics, { color: false })}`);
    this.diagnostics = diagnostics;
  }
}

export interface Handled {
  readonly response: Response;
  readonly event: HttpRequestCompleteEvent;
  readonly trace: readonly Step[];
}

/** The outcome of one request, without the network. The event and the trace are made when they are read. */
export interface Decision {
  readonly status: number;
  /** The backend that answers, or null when the edge answers itself. */
  readonly backend: string | null;
  readonly event: HttpRequestCompleteEvent;
  readonly trace: readonly Step[];
  readonly exchange: Exchange;
}

export interface Edge extends Adapters {
  readonly config: EdgeConfig;
  readonly runtime: EdgeRuntime;
  /** Takes a whole request through the edge and its upstream. */
  handle(request: Request, from?: ClientFacts): Promise<Handled>;
  /** Decides synchronously; every upstream answers `upstream` (default an empty 200). */
  decide(
    request: RequestLike | RequestHead,
    from?: ClientFacts | Connection,
    upstream?: Answers['forward'],
  ): Decision;
  /** `decide`, told step by step with source positions. */
  explain(request: RequestLike, from?: ClientFacts, upstream?: Answers['forward']): Explanation;
  /** Puts another configuration in force; throws ConfigError and changes nothing when it has errors. */
  swap(config: unknown): void;
  /** What was counted of requests through `handle` and the listener, as OpenMetrics text. */
  metrics(): string;
  /** Serves HTTP/1.1 and HTTP/2, and TLS and TCP where asked to, on real sockets, loopback by default; throws when the address cannot be had. */
  listen(options?: ListenOptions): Promise<Listening>;
}

/**
 * Makes an edge from a configuration object (the shape of the edge file). Throws ConfigError with all findings
 * when it has errors.
 */
export function createEdge(config: unknown, options: EdgeOptions = {}): Edge {
  return edgeOf(usable(checkWholeEdge({ value: config }, options)), options);
}

/** A checked configuration without errors. */
export type UsableConfig = Checked & { readonly config: EdgeConfig };

/** Narrows a checked document to one without errors; throws ConfigError otherwise. */
export function usable(checked: Checked): UsableConfig {
  const { config } = checked;
  if (config === null || hasErrors(checked.diagnostics)) throw new ConfigError(checked.diagnostics);
  return { ...checked, config };
}

/** An edge whose next configuration may come from a file, with its source positions. */
export interface EdgeOfFile extends Edge {
  swapTo(next: UsableConfig): void;
  /** What `metrics` tells, as data. */
  families(): Family[];
  /** Fulfilled when all listeners have opened and closed the ports that the last configuration wants. */
  settled(): Promise<void>;
}

/** Wires a checked configuration. */
export function edgeOf(checked: UsableConfig, options: EdgeOptions): EdgeOfFile {
  const world: World = { nowMs: options.clock ?? Date.now, random: options.random ?? Math.random };
  const runtime = edgeRuntime(checked.config, world, options);
  const metrics = createMetrics();
  const newEventId = idMaker('ev', () => world.random());
  /** Listeners that look at every new configuration. */
  const swapped = new Set<() => Promise<void>>();
  let settling: Promise<unknown> = Promise.resolve();
  let current = checked;
  const places: Places = new WeakMap([[runtime.current(), checked.locate]]);

  const { emit, emitStream, isHeard } = telling(options, newEventId, places);

  function finished(exchange: Exchange): void {
    metrics.record(exchange, world.nowMs());
    if (isHeard) emit(exchange);
  }

  function swapTo(next: UsableConfig): void {
    runtime.swap(next.config);
    places.set(runtime.current(), next.locate);
    current = next;
    settling = Promise.all(Array.from(swapped, (tell) => tell()));
  }

  function decide(
    request: RequestLike | RequestHead,
    from: ClientFacts | Connection = {},
    upstream: Answers['forward'] = OK_UPSTREAM,
  ): Decision {
    const head = 'path' in request ? request : headOf(request);
    const connection = 'client' in from ? from : connectionFor(head, from, world.nowMs());
    return new Decided(decideWithConstants(beginOn(runtime, head, connection), upstream), newEventId);
  }

  const wiring = wiringOf(runtime, finished);
  return {
    get config() {
      return current.config;
    },
    runtime,
    decide,
    explain: (request, from, upstream) =>
      explanationOf(decide(request, from, upstream).exchange, current.locate),
    handle: async (request, from = {}) => {
      const exchange = beginRequest(runtime, request, from);
      const response = await answered(exchange, request, options);
      metrics.record(exchange, world.nowMs());
      return { response, event: emit(exchange), trace: traceOf(exchange) };
    },
    swap: (config) => swapTo(usable(checkWholeEdge({ value: config }, options))),
    swapTo,
    settled: async () => void (await settling),
    metrics: () => openMetrics(metrics.families()),
    families: metrics.families,
    ...adaptersOf(wiring, world, () => Object.values(current.config.edges.https)),
    listen: async (listenOptions = {}) => {
      const { listen } = await import('./listening.ts');
      const { tape = null, hands = {} } = options;
      return listen(listenOptions, { wiring, runtime, emitStream, swapped, tape, hands, metrics });
    },
  };
}

/** Source positions of each configuration that an exchange still may have begun with. */
type Places = WeakMap<Configuration, Checked['locate']>;

/** Makes the events of what is complete and has them heard. An event that nobody hears need not be made. */
function telling(options: EdgeOptions, newEventId: IdMaker, places: Places) {
  const { tape, onEvent, onConnection } = options;
  return {
    isHeard: tape !== undefined || onEvent !== undefined,
    emit: (exchange: Exchange): HttpRequestCompleteEvent => {
      const event = projectHttpRequestComplete(exchange, newEventId);
      tape?.finished(exchange, event.object);
      onEvent?.(event, () => explanationOf(exchange, places.get(exchange.configuration)!));
      return event;
    },
    emitStream: (exchange: StreamExchange): void => {
      const event = projectTcpConnectionClosed(exchange, newEventId);
      onConnection?.(event, () => explanationOfStream(exchange, places.get(exchange.configuration)!));
    },
  };
}

/** Begins an exchange, be it one that is refused at once. */
function beginOn(runtime: EdgeRuntime, head: RequestHead | RefusedHead, connection: Connection): Exchange {
  if (!('refused' in head)) return runtime.begin(connection, head);
  const because = { code: head.refused, detail: { problem: head.says } };
  return refuseExchange(runtime.current(), connection, head.head, runtime.world, because);
}

function beginRequest(runtime: EdgeRuntime, { method, url, headers }: Request, from: ClientFacts): Exchange {
  const head = headOf({ method, url, headers });
  return beginOn(runtime, head, connectionFor(head, from, runtime.world.nowMs()));
}

function connectionFor(head: RequestHead | RefusedHead, from: ClientFacts, nowMs: number): Connection {
  const { scheme } = 'refused' in head ? head.head : head;
  return connectionOf(from, scheme, nowMs);
}

/** What drivers of requests are given; `finished` makes the event, if anybody hears it. */
function wiringOf(runtime: EdgeRuntime, finished: Wiring['finished']): Wiring {
  return {
    naming: () => runtime.current().naming,
    begin: runtime.begin,
    refuse: (connection, head, because) =>
      refuseExchange(runtime.current(), connection, head, runtime.world, because),
    finished,
  };
}

/** Runs an exchange to its end with what was handed in, or the network. */
async function answered(exchange: Exchange, request: Request, options: EdgeOptions): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer());
  const upstream = options.upstream ?? (await network());
  const hands = options.hands ?? (await handsBeside(options.upstream));
  return runScripted(exchange, body, upstream, hands);
}

class Decided implements Decision {
  readonly exchange: Exchange;
  private readonly newEventId: IdMaker;
  private made: HttpRequestCompleteEvent | null = null;

  constructor(exchange: Exchange, newEventId: IdMaker) {
    this.exchange = exchange;
    this.newEventId = newEventId;
  }

  get status(): number {
    return this.exchange.response?.status ?? 0;
  }

  get backend(): string | null {
    return this.exchange.attempts.at(-1)?.leaf.id ?? null;
  }

  get event(): HttpRequestCompleteEvent {
    return (this.made ??= projectHttpRequestComplete(this.exchange, this.newEventId));
  }

  get trace(): readonly Step[] {
    return traceOf(this.exchange);
  }
}

/** What `handle` asks the world with. Whoever hands in an upstream has no network: signatures are verified still. */
async function handsBeside(upstream: ScriptedUpstream | undefined): Promise<ScriptedHands> {
  const { networkHands } = await import('./answers/hands.ts');
  const hands = networkHands();
  return upstream === undefined ? hands : { verify: hands.verify };
}

/** Loaded only by those who hand in no upstream of their own. */
async function network(): Promise<ScriptedUpstream> {
  return (await import('./answers/fetched_upstream.ts')).fetchUpstream;
}
