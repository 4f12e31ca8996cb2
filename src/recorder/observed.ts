import { REDACTED } from '../http/secrets.ts';
import type { Answers, Connection, RequestHead } from '../engine/contract.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import { type FieldList, hasField } from '../http/fields.ts';

/** How the value of a header field was lost: only its letter case, or all of it. */
export type FieldLoss = 'case' | 'redacted';

/** Parts of an exchange that a log may not have. Each is the name that a person reads. */
export type Part =
  | 'request body'
  | 'request trailers'
  | 'request version'
  | 'request timing'
  | 'query'
  | 'path'
  | 'client address'
  | 'client port'
  | 'client certificate'
  | 'TLS handshake'
  | 'session'
  | 'response status'
  | 'response headers'
  | 'variables'
  | 'chance';

/** What the log says came of a request. */
export interface RecordedOutcome {
  /** 0 when the client got no response. */
  readonly status: number;
  /** Error code of the edge in upper case; empty when the response has none. */
  readonly errorCode: string;
  /** `Location` in lower case; null when there is none. */
  readonly location: string | null;
  /** Who answered; null when the log does not tell. */
  readonly answeredBy: 'edge' | 'upstream' | null;
  /** Decisions of modules as events carry them, by module type; null when the log has none. */
  readonly decisions: Readonly<Record<string, string>> | null;
}

/** One request of a log: all that is known of it, and what is not. */
export interface Observed {
  /** Line of the log, from 1. */
  readonly line: number;
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  /** When it was decided, as far as the log tells: ms since the epoch. */
  readonly atMs: number;
  /** Null when the log has not all of it. */
  readonly body: Uint8Array | null;
  /** What the upstream answered; null when the log does not tell. */
  readonly upstream: Answers['forward'] | null;
  readonly upstreamBody: Uint8Array | null;
  /** What the edge's own requests were answered, by method and URL. */
  readonly fetched: ReadonlyMap<string, Answers['fetch']> | null;
  readonly outcome: RecordedOutcome | null;
  /** Events keep values in lower case only, but for these fields. */
  readonly keptCase: 'all' | 'host and user-agent';
  /** Names in lower case. */
  readonly redacted: ReadonlySet<string>;
  /** Names of fields of which the log does not even say whether they were there. */
  readonly dropped: ReadonlySet<string>;
  readonly lost: ReadonlySet<Part>;
}

/** No names at all, shared. */
export const NO_NAMES: ReadonlySet<string> = new Set();

const KEPT: ReadonlySet<string> = new Set(['host', 'user-agent']);
const HAS_CASE = /\p{L}/u;

/** How the values of a request field were lost; null when they are known, or when there is no such field. */
export function fieldLoss(observed: Observed, fields: FieldList, lower: string): FieldLoss | null {
  if (observed.redacted.has(lower) || observed.dropped.has(lower)) return 'redacted';
  if (observed.keptCase === 'all') return null;
  let loss: FieldLoss | null = null;
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at]!.toLowerCase() !== lower) continue;
    if (fields[at + 1]!.includes(REDACTED)) return 'redacted';
    if (!KEPT.has(lower) && HAS_CASE.test(fields[at + 1]!)) loss = 'case';
  }
  return loss;
}

/** Whether any field of the request has lost something. */
export function anyFieldLoss(observed: Observed, fields: FieldList): FieldLoss | null {
  if (observed.redacted.size > 0 || observed.dropped.size > 0) return 'redacted';
  if (observed.keptCase === 'all') return null;
  for (let at = 0; at < fields.length; at += 2) {
    if (fieldLoss(observed, fields, fields[at]!.toLowerCase()) !== null) return 'case';
  }
  return null;
}

/** Whether a field was there whose value is not known any more. */
export function isLost(observed: Observed, lower: string): boolean {
  const head = 'refused' in observed.head ? observed.head.head : observed.head;
  if (observed.dropped.has(lower)) return true;
  return hasField(head.headers, lower) && fieldLoss(observed, head.headers, lower) !== null;
}
