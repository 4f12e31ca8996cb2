import type { Decision, StreamExplanation } from '../../edge/explain.ts';
import type { Exchange } from '../../engine/exchange.ts';
import { isAllowed } from '../../engine/stream_exchange.ts';
import { firstValue } from '../../http/fields.ts';
import { redactTarget } from '../../replay/redact_text.ts';
import type { Redaction } from '../../replay/redaction.ts';
import type { ConnectionRow, ExchangeRow, Protocol, Row } from '../wire.ts';
import type { KeptConnection, KeptExchange } from './kept.ts';

const TARGET_UNITS = 2_000;

/** With the rule of a policy, if one decided. Rows without are one literal: adding a member takes longer than all the others. */
function withRule<R extends Row>(row: R, last: Decision['decidedBy'] | null): R {
  const rule = last?.detail['rule'];
  return typeof rule === 'string' ? { ...row, rule } : row;
}

/** The row of an exchange. `decision` is null while it is open. */
export function exchangeRow(
  kept: KeptExchange,
  decision: Decision | null,
  redaction: Redaction,
): ExchangeRow {
  const live = kept.live!;
  const { head, connection, response, attempts, sent } = live;
  const last = decision === null ? null : decision.decidedBy;
  const passed = kept.frames?.passed;
  const row: ExchangeRow = {
    kind: 'exchange',
    seq: kept.seq,
    eventId: kept.eventId,
    atMs: live.startMs,
    tookMs: kept.isDone ? kept.instants.tookMs() : null,
    state: kept.isDone ? 'done' : 'open',
    protocol: protocolOf(live),
    method: head.method,
    scheme: head.scheme,
    host: head.authority,
    target: targetOf(live, redaction),
    status: response?.status ?? null,
    mediaType: response === null ? '' : mediaTypeOf(response.headers),
    verdict: last?.verdict ?? null,
    by: last?.module ?? '',
    code: last?.code ?? '',
    pointer: last?.pointer ?? null,
    place: last?.place ?? null,
    backend: decision?.backend ?? attempts.at(-1)?.endpoint.id ?? null,
    tunnel: decision?.tunnel ?? null,
    clientIp: connection.client.text,
    requestBytes: sent?.requestBytes ?? passed?.toUpstream ?? 0,
    responseBytes: sent?.responseBytes ?? passed?.toClient ?? 0,
    revision: kept.revision,
    pinned: kept.isPinned,
    resentFrom: kept.resentFrom,
  };
  return withRule(row, last);
}

function protocolOf({ head, response }: Exchange): Protocol {
  if (response?.status === 101) return 'websocket';
  return head.version === '2.0' ? 'h2' : `http/${head.version}`;
}

function targetOf({ head }: Exchange, redaction: Redaction): string {
  const target = redactTarget(head.sentTarget, redaction);
  return target.length > TARGET_UNITS ? `${target.slice(0, TARGET_UNITS)}…` : target;
}

function mediaTypeOf(headers: readonly string[]): string {
  const type = firstValue(headers, 'content-type') ?? '';
  const end = type.indexOf(';');
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase().slice(0, 100);
}

/** The row of a connection of a TLS or TCP edge. */
export function connectionRow(kept: KeptConnection, explanation: StreamExplanation | null): ConnectionRow {
  const live = kept.live!;
  const { connection, pipeline, relayed, attempts, ended } = live;
  const last = explanation?.decidedBy ?? null;
  const row: ConnectionRow = {
    kind: 'connection',
    seq: kept.seq,
    eventId: kept.event?.event_id ?? null,
    edge: pipeline?.edge ?? null,
    ended: kept.isDone ? (ended?.code ?? null) : null,
    atMs: connection.startMs,
    tookMs: kept.isDone ? kept.instants.tookMs() : null,
    state: kept.isDone ? 'done' : 'open',
    protocol: pipeline?.kind ?? (connection.tls === null ? 'tcp' : 'tls'),
    host: `${connection.serverName === '' ? connection.serverIp : connection.serverName}:${connection.serverPort}`,
    verdict: last === null ? null : isAllowed(live) ? 'pass' : 'stop',
    by: last?.module ?? '',
    code: last?.code ?? '',
    pointer: last?.pointer ?? null,
    place: last?.place ?? null,
    backend: explanation?.backend ?? attempts.at(-1)?.endpoint.id ?? null,
    tunnel: explanation?.tunnel ?? null,
    clientIp: connection.client.text,
    requestBytes: relayed?.bytesIn ?? 0,
    responseBytes: relayed?.bytesOut ?? 0,
    revision: kept.revision,
    pinned: kept.isPinned,
  };
  return withRule(row, last);
}
