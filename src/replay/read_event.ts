import { DECISIONS } from '../events/fields.ts';
import { REDACTED } from '../http/secrets.ts';
import type { Connection, RequestHead, TlsFacts } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import { type RefusedHead, readRequestHead } from '../engine/request_head.ts';
import { type FieldList, isName } from '../http/fields.ts';
import { parseAddress } from '../net/address.ts';
import { type EventFacts, equalIn } from './event_facts.ts';
import { NO_NAMES, type LogRecord, type Part, type RecordedOutcome, NEVER_LOGGED } from './log_record.ts';

const EVENT_LOSES: ReadonlySet<Part> = new Set<Part>(['request trailers', ...NEVER_LOGGED]);
const NO_BYTES = new Uint8Array(0);
/** Error codes of the edge for failed upstreams. */
const FAILURES: Readonly<Record<string, 'connect' | 'timeout' | 'reset' | 'invalid'>> = {
  '8012': 'connect',
  '3005': 'timeout',
  '3006': 'reset',
  '3004': 'invalid',
};

const EVENT_LOSES_QUERY: ReadonlySet<Part> = new Set([...EVENT_LOSES, 'query']);

/**
 * Reads an event. Events lack the letter case of header values (except host and user agent), bodies, client
 * ports, most of certificates, sessions, and the upstream's response before the edge edited it. The method is
 * assumed to be in upper case, as all methods in use are.
 */
export function readEvent(facts: EventFacts | null, line: number): LogRecord | { readonly problem: string } {
  if (facts === null) return { problem: 'the event does not have client, method and URL' };
  const client = parseAddress(facts['conn.client_ip']);
  if (client === null) return { problem: `'${facts['conn.client_ip']}' is not an IP address` };
  const scheme = facts['http.request.url.scheme'] === 'http' ? 'http' : 'https';
  const endMs = facts.timestamp ?? 0;
  const startMs = facts['conn.start_ts'] ?? endMs;
  const connection: Connection = {
    client,
    clientPort: 0,
    serverIp: facts['conn.server_ip'] ?? '127.0.0.1',
    serverPort: facts['conn.server_port'] ?? (scheme === 'https' ? 443 : 80),
    serverName: facts['tls.version'] ? (facts['conn.server_name'] ?? '') : '',
    startMs: Number.isNaN(startMs) ? 0 : startMs,
    tls: tlsOf(facts),
  };
  const head = readRequestHead({
    method: facts['http.request.method'].toUpperCase(),
    target: targetOf(facts),
    version: '1.1',
    scheme,
    headers: fieldsOf(
      facts['http.request.headers'],
      authorityOf(facts),
      facts['http.request.user_agent'] ?? '',
    ),
  });
  const result = resultOf(facts);
  return {
    line,
    head,
    connection,
    atMs: Number.isNaN(endMs) ? connection.startMs : endMs,
    body: facts['http.request.body_length'] === 0 && !mayHaveBody(head) ? NO_BYTES : null,
    upstream: result.upstream,
    upstreamBody: null,
    fetched: null,
    outcome: result.outcome,
    keptCase: 'host and user-agent',
    redacted: NO_NAMES,
    dropped: NO_NAMES,
    lost: facts['http.request.url.query']?.includes(REDACTED) === true ? EVENT_LOSES_QUERY : EVENT_LOSES,
  };
}

/** The event only counts the bytes that were read: a stopped request may have had a body that was not read. */
function mayHaveBody(head: RequestHead | RefusedHead): boolean {
  const { method } = 'refused' in head ? head.head : head;
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && method !== 'DELETE';
}

function authorityOf({ 'http.request.url.raw': raw, 'http.request.url.host': host }: EventFacts): string {
  if (raw === undefined) return host ?? '';
  const from = raw.indexOf('://') + 3;
  if (from < 3) return host ?? '';
  let end = from;
  while (end < raw.length && raw[end] !== '/' && raw[end] !== '?') end++;
  return raw.slice(from, end);
}

/** `/a?` and `/a` both have an empty query; only the raw URL distinguishes them. */
function targetOf({
  'http.request.url.path': path = '/',
  'http.request.url.query': query = '',
  'http.request.url.raw': raw,
}: EventFacts): string {
  // The redaction marker has characters that are not valid in a query.
  return query === '' && raw?.endsWith('?') !== true
    ? path
    : `${path}?${query.replaceAll(REDACTED, 'redacted')}`;
}

function fieldsOf(headers: FieldList, authority: string, userAgent: string): FieldList {
  // A copy is made at once, which takes less time than a list that grows.
  const fields = headers.slice();
  let hasHost = false;
  let hasAgent = userAgent === '';
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    if (isName(name, 'host')) {
      if (hasHost) {
        fields.splice(at, 2);
        at -= 2;
      } else if (authority !== '') fields[at + 1] = authority;
      hasHost = true;
    } else if (!hasAgent && isName(name, 'user-agent')) {
      hasAgent = true;
      if (fields[at + 1] !== REDACTED) fields[at + 1] = userAgent;
    }
  }
  if (!hasHost && authority !== '') fields.unshift('Host', authority);
  return fields;
}

function tlsOf({
  'tls.version': version,
  'tls.cipher_suite': cipherSuite = '',
  'tls.client_cert.serial_number': serialNumber = '',
  'tls.client_cert.subject.cn': subjectCn = '',
}: EventFacts): TlsFacts | null {
  if (!version) return null;
  const hasCertificate = serialNumber !== '' || subjectCn !== '';
  return {
    version,
    cipherSuite,
    clientCertificate: hasCertificate ? { serialNumber, subjectCn } : null,
  };
}

/** The outcome of a request, as far as its event has it. */
interface RecordedResult {
  readonly outcome: RecordedOutcome | null;
  readonly upstream: Answers['forward'] | null;
}

const UNKNOWN_RESULT: RecordedResult = { outcome: null, upstream: null };
/** The latest outcomes and their inputs: requests of a log have few different ones. */
const latest: { readonly facts: EventFacts; readonly result: RecordedResult }[] = [];
const LATEST_LIMIT = 8;
let oldest = 0;

function resultOf(facts: EventFacts): RecordedResult {
  const status = facts['http.response.status_code'];
  // If the client left (status 0), the response that it would have got is unknown.
  if (status === undefined || status === 0) return UNKNOWN_RESULT;
  for (let at = 0; at < latest.length; at++) if (isAlike(latest[at]!.facts, facts)) return latest[at]!.result;
  const { errorCode, location } = saidIn(facts['http.response.headers']);
  const decisions = Object.fromEntries(
    DECISIONS.map(([module, path]) => [module, facts[path] ?? 'invalid'] as const),
  );
  const isEdge = errorCode !== '' || Object.values(decisions).includes('block');
  const answeredBy = isEdge ? 'edge' : facts['backend.connection_reused'] ? 'upstream' : null;
  const outcome: RecordedOutcome = { status, errorCode, location, answeredBy, decisions, body: null };
  const result = { outcome, upstream: upstreamOf(outcome) };
  latest[oldest++ % LATEST_LIMIT] = { facts, result };
  return result;
}

const haveSameOutcome = equalIn([
  'http.response.status_code',
  'backend.connection_reused',
  ...DECISIONS.map(([, path]) => path),
]);

function isAlike(one: EventFacts, other: EventFacts): boolean {
  return (
    haveSameOutcome(one, other) && isSameList(one['http.response.headers'], other['http.response.headers'])
  );
}

function isSameList(one: FieldList, other: FieldList): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

function saidIn(headers: FieldList): { readonly errorCode: string; readonly location: string | null } {
  let errorCode: string | null = null;
  let location: string | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    if (name === 'Location') location ??= headers[at + 1]!;
    else if (name.endsWith('-Error-Code')) errorCode ??= headers[at + 1]!.toUpperCase();
  }
  return { errorCode: errorCode ?? '', location };
}

/** The upstream's response; null if the edge responded, or there was no response. */
function upstreamOf({ status, errorCode, answeredBy }: RecordedOutcome): Answers['forward'] | null {
  const failure = FAILURES[/(\d+)$/.exec(errorCode ?? '')?.[1] ?? ''];
  if (failure !== undefined) return { failure, detail: 'as recorded' };
  if (answeredBy === 'edge') return null;
  return { head: { status, headers: [] }, reused: false };
}
