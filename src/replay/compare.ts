import type { Endpoint } from '../engine/questions.ts';
import { bytesOf } from '../engine/drivers/reply_content.ts';
import type { Exchange } from '../engine/exchange.ts';
import { firstValue } from '../http/fields.ts';
import { decisionOf } from '../simulator/expect/deeper.ts';
import { type Decided, type LocalBody, headerEdits } from './decided.ts';
import type { LogRecord, RecordedOutcome } from './log_record.ts';
import type { Unknown } from './unknowns.ts';

/** The result of a replay for one record; a skipped one reached what no edge file has. */
export type Finding = 'same' | 'changed' | 'unknown' | 'skipped';

/** The result for one record, with the cause that records are grouped by. */
export interface Judged {
  readonly finding: Finding;
  /** `forwarded to app → 403 by ip_restriction (ip_restriction.denied)`, or the missing part of the log. */
  readonly cause: string;
  readonly pointer: string | null;
}

/** The parts of a decision that its text has. */
interface Fate extends Pick<Decided, 'outcome' | 'by' | 'code' | 'status'> {
  readonly id: string;
  readonly isBug: boolean;
}

/** The latest texts and their parts: there are few different ones, and one text is found in maps faster than equal ones. */
const latest: { readonly fate: Fate; readonly text: string }[] = [];
const LATEST_LIMIT = 8;
let oldest = 0;

/** A decision in words; requests with the same outcome have equal texts. */
export function outcomeText(decided: Decided): string {
  const { outcome, by, code, status, endpoint, exchange } = decided;
  const isBug = exchange.ended?.code === 'engine.bug';
  const id = endpoint?.id ?? 'nothing';
  for (let at = 0; at < latest.length; at++) {
    const { fate, text } = latest[at]!;
    if (
      fate.outcome === outcome &&
      fate.status === status &&
      fate.id === id &&
      fate.code === code &&
      fate.by === by &&
      fate.isBug === isBug
    )
      return text;
  }
  const fate: Fate = { outcome, by, code, status, id, isBug };
  const text = textOf(fate);
  latest[oldest++ % LATEST_LIMIT] = { fate, text };
  return text;
}

function textOf({ outcome, by, code, status, id, isBug }: Fate): string {
  if (isBug) return 'no outcome';
  if (outcome === 'forwarded') return `forwarded to ${id}`;
  if (outcome === 'closed') return `closed by ${by} (${code})`;
  return `${status} by ${by} (${code})`;
}

/** Compares the decisions of two configurations for one request. */
export function compareDecisions(before: Decided, after: Decided): Judged {
  const unknown = after.unknown[0] ?? before.unknown[0];
  if (unknown !== undefined) return unknownFor(unknown);
  const differ = before.choice?.weights === after.choice?.weights ? null : anyDiffer(before, after);
  if (differ === 'some')
    return { finding: 'unknown', cause: 'chance: other weights', pointer: after.pointer };
  const difference =
    differ === 'all'
      ? `${outcomeTextByChance(before)} → ${outcomeTextByChance(after)}`
      : differenceOf(before, after);
  if (difference === null) return { finding: 'same', cause: outcomeText(after), pointer: after.pointer };
  return { finding: 'changed', cause: difference, pointer: after.pointer ?? before.pointer };
}

function unknownFor({ attribute, pointer }: Unknown): Judged {
  return { finding: 'unknown', cause: attribute, pointer };
}

/** Whether decisions with different random choices differ for all possible backends, or for some. */
function anyDiffer(before: Decided, after: Decided): 'all' | 'some' | null {
  const [ones, others] = [before, after].map(
    ({ choice, endpoint }): readonly (Endpoint | null)[] => choice?.endpoints ?? [endpoint],
  );
  const pairs = ones!.flatMap((one) => others!.map((other) => [one, other] as const));
  const differing = pairs.filter(([one, other]) => {
    const chosen = [
      { ...before, endpoint: one },
      { ...after, endpoint: other },
    ] as const;
    return differenceOf(...chosen) !== null;
  });
  if (differing.length === 0) return null;
  return differing.length === pairs.length ? 'all' : 'some';
}

function outcomeTextByChance(decided: Decided): string {
  const { choice, outcome } = decided;
  if (choice === null || outcome !== 'forwarded') return outcomeText(decided);
  return `forwarded to one of ${choice.endpoints.map(({ id }) => id).join(', ')}`;
}

/** The difference of two decisions; null if neither the client nor the backend could observe one. */
function differenceOf(before: Decided, after: Decided): string | null {
  const [one, other] = [outcomeText(before), outcomeText(after)];
  if (one !== other) return `${one} → ${other}`;
  if (after.endpoint !== null && !sameEndpoint(before, after)) {
    return `${other}: at ${addressOf(before)} → at ${addressOf(after)}`;
  }
  if (after.outcome === 'forwarded') {
    if (before.sent.path !== after.sent.path || before.sent.query !== after.sent.query)
      return `${other}: the path or query sent to it differs`;
    if (!sameRequestEdits(before.exchange, after.exchange)) return `${other}: the headers sent to it differ`;
  }
  if (!sameFields(before.exchange.response?.headers ?? [], after.exchange.response?.headers ?? [])) {
    return `${other}: the response headers differ`;
  }
  if (before.status !== after.status) return `${other}: status ${before.status} → ${after.status}`;
  return sameBody(before.body, after.body) ? null : `${other}: the response bodies differ`;
}

function sameEndpoint({ endpoint: one }: Decided, { endpoint: other }: Decided): boolean {
  if (one === null || other === null || one.kind !== other.kind) return one === other;
  if (one.kind === 'http_response' || other.kind === 'http_response') return true;
  return one.host === other.host && one.port === other.port && one.tls === other.tls;
}

/** Bodies are only compared if both are known. */
function sameBody(one: LocalBody | null, other: LocalBody | null): boolean {
  if (one === null || other === null) return true;
  if ('text' in one && 'text' in other) return one.text === other.text;
  return Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
}

function addressOf({ endpoint }: Decided): string {
  if (endpoint?.kind !== 'static') return 'nowhere';
  return endpoint.tunnel === undefined ? `${endpoint.host}:${endpoint.port}` : endpoint.host;
}

function sameRequestEdits({ edits: one }: Exchange, { edits: other }: Exchange): boolean {
  if (one.length === 0 && other.length === 0) return true;
  return JSON.stringify(headerEdits(one)) === JSON.stringify(headerEdits(other));
}

function sameFields(one: readonly string[], other: readonly string[]): boolean {
  if (one === other) return true;
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** Compares a decision with the outcome in the log. */
export function compareWithLog(decided: Decided, { outcome }: LogRecord): Judged {
  const [unknown] = decided.unknown;
  if (unknown !== undefined) return unknownFor(unknown);
  if (outcome === null) {
    return { finding: 'unknown', cause: 'outcome: missing in the log', pointer: null };
  }
  if (isAnsweredByUpstream(decided) && outcome.answeredBy === null && outcome.status >= 300) {
    // A policy's own response looks like an upstream's.
    return { finding: 'unknown', cause: `who answered ${outcome.status}`, pointer: null };
  }
  const departure = departureOf(decided, outcome);
  return departure === null
    ? { finding: 'same', cause: outcomeText(decided), pointer: decided.pointer }
    : { finding: 'changed', cause: departure, pointer: decided.pointer };
}

/** How a decision differs from the log; null if it reproduces the recorded outcome. */
function departureOf(decided: Decided, recorded: RecordedOutcome): string | null {
  const { exchange, status } = decided;
  const { decisions } = recorded;
  for (const module in decisions) {
    const was = decisions[module]!;
    const is = decisionOf(exchange, module);
    // Whether a module passes a request or is absent cannot be observed.
    if ((is === 'block') !== (was === 'block')) return `recorded ${module} ${was} → ${outcomeText(decided)}`;
  }
  const code = codeOf(decided);
  if (recorded.errorCode !== null && code !== recorded.errorCode)
    return `recorded ${recordedFate(recorded)} → ${outcomeText(decided)}`;
  const isUpstream = isAnsweredByUpstream(decided);
  const isOther = isUpstream
    ? recorded.answeredBy === 'edge'
    : isLocal(decided) && recorded.answeredBy === 'upstream';
  if (isOther || (status === 0 && decided.outcome === 'forwarded'))
    return `recorded ${recordedFate(recorded)} → ${outcomeText(decided)}`;
  if (status !== recorded.status) return `recorded ${recordedFate(recorded)} → ${outcomeText(decided)}`;
  if (decided.outcome === 'stopped' && recorded.location !== null) {
    const location = firstValue(exchange.response?.headers ?? [], 'location')?.toLowerCase() ?? null;
    if (location !== recorded.location.toLowerCase())
      return `recorded another Location → ${outcomeText(decided)}`;
  }
  if (!isUpstream && !sameBody(decided.body, recorded.body && { bytes: recorded.body }))
    return `recorded another body → ${outcomeText(decided)}`;
  return null;
}

/** Whether an upstream responded, rather than a fixed backend of the configuration. */
function isAnsweredByUpstream({ outcome, endpoint }: Decided): boolean {
  return outcome === 'forwarded' && endpoint?.kind !== 'http_response';
}

/** Whether no upstream was contacted. */
function isLocal({ exchange }: Decided): boolean {
  return exchange.attempts.every(({ endpoint }) => endpoint.kind === 'http_response');
}

function recordedFate({ status, errorCode }: RecordedOutcome): string {
  if (errorCode !== null && errorCode !== '') return `${status} by the edge (${errorCode})`;
  return status === 0 ? 'no response' : String(status);
}

function codeOf({ exchange }: Decided): string {
  if (exchange.response === null) return '';
  return (
    firstValue(exchange.response.headers, exchange.configuration.branding.errorField) ?? ''
  ).toUpperCase();
}
