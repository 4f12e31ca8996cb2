import { isRedacted } from '../http/secrets.ts';
import type { Connection, RequestHead } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import { type FieldList, hasField, isName } from '../http/fields.ts';

/** What a header value lost: only its letter case, or everything. */
export type FieldLoss = 'case' | 'redacted';

/** Parts of an exchange that a log may lack, by the names used in reports. */
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
  | 'TLS version'
  | 'host'
  | 'scheme'
  | 'session'
  | 'response status'
  | 'response headers'
  | 'variables'
  | 'results of actions'
  | 'chance';

/** The outcome of a request in the log. */
export interface RecordedOutcome {
  /** 0 if the client got no response. */
  readonly status: number;
  /** Error code of the edge in upper case; empty if the response has none, null if the log does not have it. */
  readonly errorCode: string | null;
  /** `Location` in lower case; null if absent. */
  readonly location: string | null;
  /** What produced the response; null if the log does not have it. */
  readonly answeredBy: 'edge' | 'upstream' | null;
  /** Decisions of modules as in events, by module type; null if the log has none. */
  readonly decisions: Readonly<Record<string, string>> | null;
  /** The body of a response of the edge itself; null if the log does not have all of it. */
  readonly body: Uint8Array | null;
}

/** One request of a log, with its known and missing parts. */
export interface LogRecord {
  /** Line of the log, from 1. */
  readonly line: number;
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  /** Time of the decision, as far as the log has it: ms since the epoch. */
  readonly atMs: number;
  /** Null if the log does not have all of it. */
  readonly body: Uint8Array | null;
  /** The upstream's response; null if the log does not have it. */
  readonly upstream: Answers['forward'] | null;
  readonly upstreamBody: Uint8Array | null;
  /** Responses to the edge's own requests, by method and URL. */
  readonly fetched: ReadonlyMap<string, Answers['fetch']> | null;
  readonly outcome: RecordedOutcome | null;
  /** The backend of its route, and those in it that could be tried; absent if the log does not name them. */
  readonly backends?: { readonly root: string | null; readonly candidates: ReadonlySet<string> };
  /** URL of the endpoint of an agent that it reached; absent if the log does not say so. */
  readonly agentEndpoint?: string;
  /** Events keep header values in lower case only, except for these fields. */
  readonly keptCase: 'all' | 'host and user-agent';
  /** Names in lower case. */
  readonly redacted: ReadonlySet<string>;
  /** Names of fields that may have been removed from the log without a trace. */
  readonly dropped: ReadonlySet<string>;
  readonly lost: ReadonlySet<Part>;
}

/** An empty set, shared. */
export const NO_NAMES: ReadonlySet<string> = new Set();

const KEPT: ReadonlySet<string> = new Set(['host', 'user-agent']);
const HAS_CASE = /\p{L}/u;

/** What the values of a request field lost; null if they are complete or there is no such field. */
export function fieldLoss(record: LogRecord, fields: FieldList, lower: string): FieldLoss | null {
  if (record.redacted.has(lower) || record.dropped.has(lower)) return 'redacted';
  if (record.keptCase === 'all') return null;
  let loss: FieldLoss | null = null;
  for (let at = 0; at < fields.length; at += 2) {
    if (!isName(fields[at]!, lower)) continue;
    if (isRedacted(fields[at + 1]!)) return 'redacted';
    if (!KEPT.has(lower) && HAS_CASE.test(fields[at + 1]!)) loss = 'case';
  }
  return loss;
}

/** Whether any field of the request lost something. */
export function anyFieldLoss(record: LogRecord, fields: FieldList): FieldLoss | null {
  if (record.redacted.size > 0 || record.dropped.size > 0) return 'redacted';
  if (record.keptCase === 'all') return null;
  for (let at = 0; at < fields.length; at += 2) {
    if (fieldLoss(record, fields, fields[at]!.toLowerCase()) !== null) return 'case';
  }
  return null;
}

/** Whether a field was present whose value is not known. */
export function isLost(record: LogRecord, lower: string): boolean {
  const head = 'refused' in record.head ? record.head.head : record.head;
  if (record.dropped.has(lower)) return true;
  return hasField(head.headers, lower) && fieldLoss(record, head.headers, lower) !== null;
}

/** Parts that neither an event nor an archive has. */
export const NEVER_LOGGED: readonly Part[] = [
  'request version',
  'request timing',
  'client port',
  'client certificate',
  'TLS handshake',
  'session',
  'response headers',
];
