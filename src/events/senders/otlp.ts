import { nodeZlib } from '../../loading/builtins.ts';
import { attributesOf, logsRequest, traceRequest } from '../otlp/messages.ts';
import { type PartialSuccess, partialSuccessOf, protobufOf } from '../otlp/protobuf.ts';
import { type SpanFacts, type TracedEvent, logRecordOf, spansOf } from '../otlp/signals.ts';
import { type CloudWorld, type Posted, type Sent, type Target, refusal, requests } from './sending.ts';

export interface OtlpSettings {
  /** Base URL; `v1/logs` and `v1/traces` are appended. */
  readonly url: string;
  /** Fields of requests, such as keys. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly encoding: 'protobuf' | 'json';
  readonly compression: 'gzip' | 'none';
  readonly signals: readonly ('logs' | 'traces')[];
  /** Value of `service.name`; default `edgeproof`. */
  readonly service?: string;
}

/**
 * 512 records are the default batch of OpenTelemetry's processors, which wait 1 s for logs; receivers take 4 MiB by
 * gRPC and 20 MiB by HTTP (OpenTelemetry, "SDK configuration" and "confighttp").
 */
const LIMITS = {
  events: 512,
  bytes: 4 * 1_048_576,
  eventBytes: 1_048_576,
  overheadBytes: 1_024,
  lingerMs: 1_000,
};

const BAD_DATA = 400;
const NOTICE_LENGTH = 240;

/** Logs of all events, and traces of those that have the facts of a span. */
export function otlpTarget(settings: OtlpSettings, world: CloudWorld): Target {
  const { url, headers: given = {}, encoding, compression, signals, service = 'edgeproof' } = settings;
  const sending = requests(world);
  const resource = { attributes: attributesOf({ 'service.name': service }) };
  const headers = {
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
    ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
  };
  /** What of a batch is accepted already, in case that a later request fails. */
  let accepted: { readonly events: readonly string[]; readonly signals: Set<string> } | null = null;

  async function post(signal: 'logs' | 'traces', events: readonly Traced[]): Promise<Sent> {
    const spans = signal === 'traces' ? events.flatMap(({ event, span }) => spansOf(event, span)) : [];
    if (signal === 'traces' && spans.length === 0) return { problem: null };
    const now = sending.nowMs();
    const message =
      signal === 'traces'
        ? traceRequest(resource, spans)
        : logsRequest(
            resource,
            events.map(({ event, span }) => logRecordOf(event, span, now)),
          );
    const bytes = encoding === 'json' ? Buffer.from(JSON.stringify(message)) : protobufOf(message);
    const body = compression === 'gzip' ? nodeZlib().gzipSync(bytes) : bytes;
    return outcomeOf(signal, await sending.post(endpointOf(url, signal), { headers, body }), encoding, now);
  }

  return {
    problem: null,
    limits: LIMITS,
    wantsSpans: true,
    send: async (events) => {
      if (accepted?.events !== events) accepted = { events, signals: new Set() };
      const parsed = events.map(tracedOf);
      let notice: string | undefined;
      for (const signal of signals) {
        if (accepted.signals.has(signal)) continue;
        const sent = await post(signal, parsed);
        if (sent.problem !== null) return sent;
        accepted.signals.add(signal);
        notice ??= sent.notice;
      }
      return { problem: null, ...(notice !== undefined && { notice }) };
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

interface Traced {
  readonly event: TracedEvent;
  readonly span: SpanFacts | null;
}

function tracedOf(text: string): Traced {
  const { span = null, ...event } = JSON.parse(text) as TracedEvent & { readonly span?: SpanFacts | null };
  return { event, span };
}

function endpointOf(url: string, signal: string): string {
  const base = new URL(url);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return base.href;
}

/**
 * 400 says that the data are bad: they are never sent again as they are. Other refusals are repeated, also those that
 * the specification calls final, such as 401 for a wrong key: audit events are not lost for that. Records of a partial
 * success are not sent again.
 */
function outcomeOf(signal: string, posted: Posted, encoding: 'protobuf' | 'json', nowMs: number): Sent {
  if (posted.status < 200 || posted.status >= 300) {
    const refused = refusal('otlp', posted, nowMs);
    return posted.status === BAD_DATA ? { ...refused, divide: true } : refused;
  }
  const partial = encoding === 'json' ? partialOf(posted.body) : partialSuccessOf(posted.bytes);
  if (partial === null || (partial.rejected === 0n && partial.message === '')) return { problem: null };
  const { rejected, message } = partial;
  return { problem: null, notice: `otlp rejected ${rejected} ${signal}: ${message}`.slice(0, NOTICE_LENGTH) };
}

interface Partial {
  readonly rejectedLogRecords?: number | string;
  readonly rejectedSpans?: number | string;
  readonly errorMessage?: string;
}

/** Null for what cannot be read, too. */
function partialOf(body: string): PartialSuccess | null {
  try {
    const { partialSuccess: partial } = JSON.parse(body) as { readonly partialSuccess?: Partial | null };
    if (typeof partial !== 'object' || partial === null) return null;
    const { rejectedLogRecords: logs, rejectedSpans: spans = 0, errorMessage: message = '' } = partial;
    return { rejected: BigInt(logs ?? spans), message };
  } catch {
    return null;
  }
}
