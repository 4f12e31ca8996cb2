import { type Explanation, type StreamExplanation, renderExplanation } from '../../edge/explain.ts';
import type { HttpRequestComplete } from '../../events/catalogue.ts';
import type { RecordedBody, RecordedExchange } from '../../replay/recording.ts';
import { redactExchange } from '../../replay/redact.ts';
import { jsonWithoutSecrets, redactTexts } from '../../replay/redact_text.ts';
import type { ConnectionDetail, Detail, ExchangeDetail, ExplanationDetail } from '../wire_detail.ts';
import { bodyFrames } from './body_frames.ts';
import type { InspectorContext } from './context.ts';
import { RequestError } from './handler.ts';
import { redactedTexts } from './redacted_texts.ts';
import type { Kept, KeptConnection, KeptExchange, OpenRecord } from './kept.ts';

/** Explains a kept exchange or connection; the default has no values of expressions and no times. */
export type ExplainKept = (kept: Kept) => ExplanationDetail;

/** The kept one with a number; throws `RequestError`. */
export function keptAt(seq: number, { store }: InspectorContext): Kept {
  const found = store.find(seq);
  if (found !== undefined) return found;
  const message =
    seq > store.lastSeq ? 'there is no exchange with this number' : 'it had to leave for newer ones';
  throw new RequestError(404, 'not_kept', message);
}

/** The kept exchange with a number; throws `RequestError`, for connections, too. */
export function exchangeAt(seq: number, context: InspectorContext): KeptExchange {
  const kept = keptAt(seq, context);
  if (kept.kind === 'exchange') return kept;
  throw new RequestError(400, 'invalid', 'this is a connection, not a request');
}

export function detailOf(kept: Kept, context: InspectorContext, explain: ExplainKept): Detail {
  return kept.kind === 'exchange'
    ? exchangeDetail(kept, context, explain)
    : connectionDetail(kept, context, explain);
}

function exchangeDetail(kept: KeptExchange, context: InspectorContext, explain: ExplainKept): ExchangeDetail {
  const exchange = redactedRecord(kept.record(), context);
  const { event } = exchange;
  const last = exchange.forwards.at(-1)?.response ?? null;
  const responseBody = sentBody(exchange.response?.body) ?? last?.body ?? exchange.response?.body ?? null;
  const frames = kept.frames?.frames();
  return {
    kind: 'exchange',
    row: context.watch.rowOf(kept) as ExchangeDetail['row'],
    exchange,
    explanation: kept.isDone ? explanationOf(kept, exchange, context, explain) : null,
    event: kept.event === null || event === null ? null : { ...kept.event, object: event },
    timing: kept.instants.timing(kept.startMs, kept.connectedMs),
    connection: kept.connection(),
    identity: kept.identity(),
    frames:
      frames === undefined
        ? bodyFrames(exchange, responseBody)
        : { kind: 'websocket', ...redactTexts(frames, context.redaction()) },
    responseBody,
  };
}

function connectionDetail(
  kept: KeptConnection,
  context: InspectorContext,
  explain: ExplainKept,
): ConnectionDetail {
  return {
    kind: 'connection',
    row: context.watch.rowOf(kept) as ConnectionDetail['row'],
    explanation: kept.isDone ? redactTexts(explain(kept), context.redaction()) : null,
    event: kept.event,
    connection: kept.connectionFacts,
    timing: kept.instants.timing(kept.startMs, kept.startMs),
  };
}

/** Values of expressions may repeat what is redacted in the exchange: it is redacted in them, too. */
export function explanationOf(
  kept: KeptExchange,
  redacted: OpenRecord,
  { redaction }: InspectorContext,
  explain: ExplainKept,
): ExplanationDetail {
  const explanation = redactTexts(explain(kept), redaction());
  const secrets = redactedTexts(kept.record(), redacted);
  if (secrets.length === 0) return explanation;
  return JSON.parse(jsonWithoutSecrets(JSON.stringify(explanation), secrets)) as ExplanationDetail;
}

/** An explanation without the values of expressions. */
export function plainExplanation(kept: Kept): ExplanationDetail {
  const explanation: Explanation | StreamExplanation = kept.explanation();
  const { steps, decidedBy } = explanation;
  return {
    steps: steps.map((step) => ({ ...step, tookMicros: null })),
    decidedBy: Math.max(0, steps.indexOf(decidedBy)),
    text: renderExplanation(explanation),
  };
}

/** A record as pages get it: redacted as in recordings. */
export function redactedRecord(record: OpenRecord, { redaction }: InspectorContext): OpenRecord {
  if (record.event !== null) return redactExchange(record as RecordedExchange, redaction());
  const { event: _, ...rest } = redactExchange({ ...record, event: EMPTY_EVENT }, redaction());
  return { ...rest, event: null };
}

/** Redaction reads the fields of an event one by one; an open exchange has none of them yet. */
const EMPTY_EVENT = {} as HttpRequestComplete;

function sentBody(body: RecordedBody | undefined): RecordedBody | null {
  return body !== undefined && (body.text !== undefined || body.base64 !== undefined) ? body : null;
}
