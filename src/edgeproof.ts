import type { Answers, Connection, RequestHead, World } from './engine/contract.ts';
import type { Exchange } from './engine/exchange.ts';
import type { RefusedHead } from './engine/request_head.ts';
import { type ClientFacts, type RequestLike, connectionOf, headOf } from './engine/request_like.ts';
import { type Step, traceOf } from './engine/trace.ts';
import { type Diagnostic, hasErrors } from './diagnostics/diagnostic.ts';
import { renderDiagnostics } from './diagnostics/render.ts';
import { refuseExchange } from './edge/compile.ts';
import { type Checked, checkEdge } from './edge/document/check.ts';
import type { EdgeConfig } from './edge/document/schema.ts';
import { type Explanation, explanationOf } from './edge/explain.ts';
import { type EdgeRuntime, edgeRuntime } from './edge/runtime.ts';
import type { HttpRequestCompleteEvent } from './events/catalogue.ts';
import { projectHttpRequestComplete } from './events/project.ts';
import { OK_UPSTREAM, decideWithConstants } from './simulator/constants.ts';
import { type ScriptedUpstream, runScripted } from './simulator/scripted.ts';

export interface EdgeOptions {
  /** Milliseconds since the epoch; default the system clock. */
  readonly clock?: () => number;
  /** Uniform in [0, 1); default the system's chance. */
  readonly random?: () => number;
  /** Answers instead of the network; with it, `handle` does no I/O. */
  readonly upstream?: ScriptedUpstream;
  /** Called once for each request that is complete. */
  readonly onEvent?: (event: HttpRequestCompleteEvent) => void;
  /** Whether `localhost` means the only edge of the file when no edge names it; default false. */
  readonly adoptLoopback?: boolean;
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

export interface Edge {
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
}

/**
 * Makes an edge from a configuration object (the shape of the edge file). Throws ConfigError with all findings
 * when it has errors.
 */
export function createEdge(config: unknown, options: EdgeOptions = {}): Edge {
  return edgeOf(usable(checkEdge({ value: config })), options);
}

/** Narrows a checked document to one without errors; throws ConfigError otherwise. */
export function usable(checked: Checked): Checked & { readonly config: EdgeConfig } {
  const { config } = checked;
  if (config === null || hasErrors(checked.diagnostics)) throw new ConfigError(checked.diagnostics);
  return { ...checked, config };
}

/** Wires a checked configuration. */
export function edgeOf(checked: Checked & { readonly config: EdgeConfig }, options: EdgeOptions): Edge {
  const world: World = { nowMs: options.clock ?? Date.now, random: options.random ?? Math.random };
  const runtime = edgeRuntime(checked.config, world, { adoptLoopback: options.adoptLoopback ?? false });
  let current = checked;

  function begin(head: RequestHead | RefusedHead, connection: Connection): Exchange {
    if (!('refused' in head)) return runtime.begin(connection, head);
    const because = { code: head.refused, detail: { problem: head.says } };
    return refuseExchange(runtime.current(), connection, head.head, world, because);
  }

  function decide(
    request: RequestLike | RequestHead,
    from: ClientFacts | Connection = {},
    upstream: Answers['forward'] = OK_UPSTREAM,
  ): Decision {
    const head = 'path' in request ? request : headOf(request);
    const scheme = 'refused' in head ? head.head.scheme : head.scheme;
    const connection = 'client' in from ? from : connectionOf(from, scheme, world.nowMs());
    return new Decided(decideWithConstants(begin(head, connection), upstream));
  }

  return {
    get config() {
      return current.config;
    },
    runtime,
    decide,
    explain: (request, from, upstream) =>
      explanationOf(decide(request, from, upstream).exchange, current.locate),
    handle: async (request, from = {}) => {
      const head = headOf({ method: request.method, url: request.url, headers: request.headers });
      const connection = connectionOf(
        from,
        'refused' in head ? head.head.scheme : head.scheme,
        world.nowMs(),
      );
      const exchange = begin(head, connection);
      const body = new Uint8Array(await request.arrayBuffer());
      const response = await runScripted(exchange, body, options.upstream ?? unreachable);
      const event = projectHttpRequestComplete(exchange);
      options.onEvent?.(event);
      return { response, event, trace: traceOf(exchange) };
    },
    swap: (config) => {
      const next = usable(checkEdge({ value: config }));
      runtime.swap(next.config);
      current = next;
    },
  };
}

class Decided implements Decision {
  readonly exchange: Exchange;
  private made: HttpRequestCompleteEvent | null = null;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  get status(): number {
    return this.exchange.response?.status ?? 0;
  }

  get backend(): string | null {
    return this.exchange.attempts.at(-1)?.leaf.id ?? null;
  }

  get event(): HttpRequestCompleteEvent {
    return (this.made ??= projectHttpRequestComplete(this.exchange));
  }

  get trace(): readonly Step[] {
    return traceOf(this.exchange);
  }
}

function unreachable(): never {
  throw new Error('no upstream was given to createEdge');
}
