import { digest } from '../../crypto/digest.ts';
import type { TraceContext } from '../../engine/trace_context.ts';
import { SAMPLED } from '../../engine/trace_context.ts';
import type { HttpRequestComplete } from '../catalogue.ts';
import { type KeyValue, type LogRecord, type Span, attributesOf } from './messages.ts';

/** Logs and spans of events, named by the semantic conventions of OpenTelemetry for HTTP servers. */

/** What a span needs and an event does not have: an addition to the events for destinations of traces. */
export interface SpanFacts {
  readonly context: TraceContext;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  /** The match of the route; empty without one. */
  readonly route: string;
  readonly backend: string;
  readonly decision: {
    readonly phase: string;
    readonly module: string;
    readonly verdict: string;
    readonly code: string;
    readonly message: string;
    /** JSON pointer; empty without one. */
    readonly pointer: string;
    /** `file:line` of the edge file; empty without one. */
    readonly place: string;
  };
}

/** The parts of an explanation that become facts of a span. */
export interface Explained {
  readonly startMs: number;
  readonly backend: string | null;
  readonly trace?: TraceContext;
  readonly decidedBy: Step;
  readonly steps: readonly Step[];
}

interface Step {
  readonly phase: string;
  readonly module: string;
  readonly verdict: string;
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly pointer: string | null;
  readonly place: { readonly file: string; readonly line: number } | null;
}

/** Null if the exchange has no trace. */
export function spanFactsOf({ startMs, backend, trace, decidedBy, steps }: Explained): SpanFacts | null {
  if (trace === undefined) return null;
  const { phase, module, verdict, code, message, pointer, place } = decidedBy;
  const match = steps[0]?.detail['match'];
  return {
    context: trace,
    startMs,
    route: typeof match === 'string' ? match : '',
    backend: backend ?? '',
    decision: {
      phase,
      module,
      verdict,
      code,
      message,
      pointer: pointer ?? '',
      place: place === null ? '' : `${place.file}:${place.line}`,
    },
  };
}

/** An event as JSON, perhaps with the facts of its span as `span`. */
export interface TracedEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly event_timestamp: string;
  readonly object: object;
}

const INFO = { severityNumber: 9, severityText: 'INFO' };
const ERROR = { severityNumber: 17, severityText: 'ERROR' };
const SERVER_ERROR = 500;

export function logRecordOf(event: TracedEvent, span: SpanFacts | null, nowMs: number): LogRecord {
  const { event_id: id, event_type: type, event_timestamp: time } = event;
  const http = httpOf(event);
  return {
    timeUnixNano: nanoseconds(Date.parse(time)),
    ...((http?.http?.response?.status_code ?? 0) >= SERVER_ERROR ? ERROR : INFO),
    body: { stringValue: JSON.stringify(event) },
    attributes: [
      ...attributesOf({ 'log.record.uid': id }),
      ...(http === null ? [] : httpAttributes(http)),
      ...(span === null ? [] : decisionAttributes(span)),
    ],
    ...(span !== null && {
      flags: span.context.flags & SAMPLED,
      traceId: span.context.traceId,
      spanId: span.context.spanId,
    }),
    observedTimeUnixNano: nanoseconds(nowMs),
    eventName: type,
  };
}

const INTERNAL = 1;
const SERVER = 2;
const FAILED = 2;

/** The span of the exchange, and that of the deciding step; none if the client asked for none. */
export function spansOf(event: TracedEvent, facts: SpanFacts | null): readonly Span[] {
  const http = httpOf(event);
  if (facts === null || http === null || (facts.context.flags & SAMPLED) === 0) return [];
  const { context, startMs, route, decision } = facts;
  const { traceId, spanId, parentId, state } = context;
  const { method } = methodOf(http);
  const status = http.http?.response?.status_code ?? 0;
  const started = nanoseconds(startMs);
  const ended = nanoseconds(Math.max(startMs, Date.parse(event.event_timestamp)));
  const common = { traceId, ...(state !== '' && { traceState: state }) };
  return [
    {
      ...common,
      spanId,
      ...(parentId !== null && { parentSpanId: parentId }),
      name: [method, route].filter((part) => part !== '').join(' ') || 'HTTP',
      kind: SERVER,
      startTimeUnixNano: started,
      endTimeUnixNano: ended,
      attributes: [
        ...httpAttributes(http),
        ...attributesOf({ 'http.route': route, 'edgeproof.event.id': event.event_id }),
        ...decisionAttributes(facts),
      ],
      status: status >= SERVER_ERROR ? { code: FAILED } : {},
      flags: SAMPLED,
    },
    {
      ...common,
      spanId: digest('sha256', [traceId, spanId, 'decision'], 'hex').slice(0, spanId.length),
      parentSpanId: spanId,
      name: `decide ${decision.module}`,
      kind: INTERNAL,
      // Steps are not timed one by one.
      startTimeUnixNano: started,
      endTimeUnixNano: started,
      attributes: [
        ...attributesOf({
          'edgeproof.decision.phase': decision.phase,
          'edgeproof.decision.message': decision.message,
          'edgeproof.decision.pointer': decision.pointer,
          'edgeproof.decision.place': decision.place,
        }),
        ...decisionAttributes(facts),
      ],
      status: {},
      flags: SAMPLED,
    },
  ];
}

function decisionAttributes({ backend, decision }: SpanFacts): readonly KeyValue[] {
  return attributesOf({
    'edgeproof.backend.id': backend,
    'edgeproof.decision.module': decision.module,
    'edgeproof.decision.verdict': decision.verdict,
    'edgeproof.decision.code': decision.code,
  });
}

/** All members are optional, because a subscription chooses the fields. */
type Partly<Whole> = {
  readonly [Key in keyof Whole]?: Whole[Key] extends object ? Partly<Whole[Key]> : Whole[Key];
};
type Http = Partly<Pick<HttpRequestComplete, 'conn' | 'tls'>> & {
  readonly http?: {
    readonly request?: {
      readonly method?: string;
      readonly body_length?: number;
      readonly user_agent?: string;
      readonly url?: Partly<HttpRequestComplete['http']['request']['url']>;
    };
    readonly response?: { readonly status_code?: number; readonly body_length?: number };
  };
};

function httpOf({ event_type: type, object }: TracedEvent): Http | null {
  return type === 'http_request_complete.v0' ? object : null;
}

/** Other methods are `_OTHER`, so that clients cannot make names without end. */
const METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
]);

/** The method as an attribute, and as the first word of the name. */
function methodOf({ http }: Http): {
  readonly attribute: string;
  readonly original: string;
  readonly method: string;
} {
  const given = http?.request?.method ?? '';
  const upper = given.toUpperCase();
  if (given === '' || METHODS.has(upper)) return { attribute: upper, original: '', method: upper };
  return { attribute: '_OTHER', original: given, method: 'HTTP' };
}

function httpAttributes(event: Http): readonly KeyValue[] {
  const { http, conn, tls } = event;
  const { request, response } = http ?? {};
  const { attribute, original } = methodOf(event);
  const status = response?.status_code ?? 0;
  return attributesOf({
    'http.request.method': attribute,
    'http.request.method_original': original,
    'url.scheme': request?.url?.scheme,
    'url.path': request?.url?.path,
    'url.query': request?.url?.query,
    'http.response.status_code': status === 0 ? undefined : status,
    'error.type': status >= SERVER_ERROR ? String(status) : undefined,
    'client.address': conn?.client_ip,
    'server.address': request?.url?.host,
    'server.port': conn?.server_port,
    'user_agent.original': request?.user_agent,
    'http.request.body.size': request?.body_length,
    'http.response.body.size': response?.body_length,
    'tls.cipher': tls?.cipher_suite,
  });
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
