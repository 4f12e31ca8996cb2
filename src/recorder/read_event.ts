import { REDACTED } from '../http/secrets.ts';
import type { Answers, Connection, RequestHead, TlsFacts } from '../engine/contract.ts';
import { type RefusedHead, readRequestHead } from '../engine/request_head.ts';
import { parseAddress } from '../net/address.ts';
import { NO_NAMES, type Observed, type Part, type RecordedOutcome } from './observed.ts';

/** The members of `http_request_complete` that a replay reads; whatever else a log has is left alone. */
export interface EventLine {
  readonly event_timestamp?: string;
  readonly object: {
    readonly conn: {
      readonly client_ip: string;
      readonly server_ip?: string;
      readonly server_name?: string;
      readonly server_port?: number;
      readonly start_ts?: string;
    };
    readonly http: {
      readonly request: {
        readonly body_length?: number;
        readonly headers?: Readonly<Record<string, readonly string[]>>;
        readonly method: string;
        readonly url: {
          readonly host?: string;
          readonly path?: string;
          readonly query?: string;
          readonly raw?: string;
          readonly scheme?: string;
        };
        readonly user_agent?: string;
      };
      readonly response?: {
        readonly headers?: Readonly<Record<string, readonly string[]>>;
        readonly status_code?: number;
      };
    };
    readonly tls?: {
      readonly cipher_suite?: string;
      readonly client_cert?: {
        readonly serial_number?: string;
        readonly subject?: { readonly cn?: string };
      };
      readonly version?: string;
    };
    readonly backend?: { readonly connection_reused?: boolean };
    readonly circuit_breaker?: { readonly decision?: string };
    readonly ip_policy?: { readonly decision?: string };
    readonly oauth?: { readonly decision?: string };
    readonly webhook_verification?: { readonly decision?: string };
  };
}

const EVENT_LOSES: ReadonlySet<Part> = new Set<Part>([
  'request trailers',
  'request version',
  'request timing',
  'client port',
  'client certificate',
  'TLS handshake',
  'session',
  'response headers',
]);
const NO_BYTES = new Uint8Array(0);
/** What the edge says of an upstream that failed, by the number of its error code. */
const FAILURES: Readonly<Record<string, 'connect' | 'timeout' | 'reset' | 'invalid'>> = {
  '8012': 'connect',
  '3005': 'timeout',
  '3006': 'reset',
  '3004': 'invalid',
};

/** Whether a parsed line looks like an event of a request. */
export function isEventLine(value: unknown): value is EventLine {
  const object = (value as { object?: { http?: { request?: { url?: unknown } }; conn?: unknown } } | null)
    ?.object;
  return typeof object?.http?.request?.url === 'object' && typeof object.conn === 'object';
}

/**
 * Reads an event. It has lost: the letter case of header values (but of host and user agent), bodies, ports of clients,
 * most of certificates, sessions, and what the upstream said before the edge edited it. The method is taken to be
 * in upper case, as all methods in use are.
 */
export function readEvent(event: EventLine, line: number): Observed | { readonly problem: string } {
  const { conn, http, tls } = event.object;
  const client = parseAddress(conn.client_ip);
  if (client === null) return { problem: `'${conn.client_ip}' is not an IP address` };
  const { url, user_agent: userAgent, body_length: bodyLength } = http.request;
  const scheme = url.scheme === 'http' ? 'http' : 'https';
  const authority = authorityOf(url);
  const endMs = event.event_timestamp === undefined ? 0 : Date.parse(event.event_timestamp);
  const startMs = conn.start_ts === undefined ? endMs : Date.parse(conn.start_ts);
  const connection: Connection = {
    client,
    clientPort: 0,
    serverIp: conn.server_ip ?? '127.0.0.1',
    serverPort: conn.server_port ?? (scheme === 'https' ? 443 : 80),
    serverName: tls?.version ? (conn.server_name ?? '') : '',
    startMs: Number.isNaN(startMs) ? 0 : startMs,
    tls: tlsOf(tls),
  };
  const head = readRequestHead({
    method: http.request.method.toUpperCase(),
    target: targetOf(url),
    version: '1.1',
    scheme,
    headers: fieldsOf(http.request.headers ?? {}, authority, userAgent ?? ''),
  });
  const outcome = outcomeOf(event);
  const hasQuery = url.query?.includes(REDACTED) !== true;
  return {
    line,
    head,
    connection,
    atMs: Number.isNaN(endMs) ? connection.startMs : endMs,
    body: bodyLength === 0 && !mayHaveBody(head) ? NO_BYTES : null,
    upstream: outcome === null ? null : upstreamOf(outcome),
    upstreamBody: null,
    fetched: null,
    outcome,
    keptCase: 'host and user-agent',
    redacted: NO_NAMES,
    dropped: NO_NAMES,
    lost: hasQuery ? EVENT_LOSES : new Set([...EVENT_LOSES, 'query']),
  };
}

/** The event counts what was read of a body: a request that was stopped may have had one all the same. */
function mayHaveBody(head: RequestHead | RefusedHead): boolean {
  const { method } = 'refused' in head ? head.head : head;
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && method !== 'DELETE';
}

function authorityOf({ raw, host }: EventLine['object']['http']['request']['url']): string {
  if (raw === undefined) return host ?? '';
  const from = raw.indexOf('://') + 3;
  if (from < 3) return host ?? '';
  let end = from;
  while (end < raw.length && raw[end] !== '/' && raw[end] !== '?') end++;
  return raw.slice(from, end);
}

/** `/a?` and `/a` have the same empty query; only the raw URL tells which it was. */
function targetOf({ path = '/', query = '', raw }: EventLine['object']['http']['request']['url']): string {
  // The marker has characters that no query may have.
  return query === '' && raw?.endsWith('?') !== true
    ? path
    : `${path}?${query.replaceAll(REDACTED, 'redacted')}`;
}

function fieldsOf(
  headers: Readonly<Record<string, readonly string[]>>,
  authority: string,
  userAgent: string,
): string[] {
  const fields: string[] = [];
  let hasHost = false;
  for (const name in headers) {
    const values = headers[name]!;
    const lower = name.toLowerCase();
    if (lower === 'host') {
      hasHost = true;
      fields.push(name, authority === '' ? values[0]! : authority);
      continue;
    }
    for (let at = 0; at < values.length; at++) {
      const isAgent = lower === 'user-agent' && at === 0 && userAgent !== '' && values[at] !== REDACTED;
      fields.push(name, isAgent ? userAgent : values[at]!);
    }
  }
  if (!hasHost && authority !== '') fields.unshift('Host', authority);
  return fields;
}

function tlsOf(tls: EventLine['object']['tls']): TlsFacts | null {
  if (!tls?.version) return null;
  const { client_cert: certificate, cipher_suite: cipherSuite = '' } = tls;
  const serialNumber = certificate?.serial_number ?? '';
  const subjectCn = certificate?.subject?.cn ?? '';
  const hasCertificate = serialNumber !== '' || subjectCn !== '';
  return {
    version: tls.version,
    cipherSuite,
    clientCertificate: hasCertificate ? { serialNumber, subjectCn } : null,
  };
}

function outcomeOf({ object }: EventLine): RecordedOutcome | null {
  const { response } = object.http;
  // Of a client that left (0) nothing is known: what it would have got was never sent.
  if (response?.status_code === undefined || response.status_code === 0) return null;
  let errorCode = '';
  let location: string | null = null;
  const headers = response.headers ?? {};
  for (const name in headers) {
    if (name === 'Location') location = headers[name]![0] ?? '';
    else if (name.endsWith('-Error-Code')) errorCode = (headers[name]![0] ?? '').toUpperCase();
  }
  const decisions = {
    ip_restriction: object.ip_policy?.decision ?? 'invalid',
    circuit_breaker: object.circuit_breaker?.decision ?? 'invalid',
    oauth: object.oauth?.decision ?? 'invalid',
    webhook_verification: object.webhook_verification?.decision ?? 'invalid',
  };
  const isEdge = errorCode !== '' || Object.values(decisions).includes('block');
  const answeredBy = isEdge ? 'edge' : object.backend?.connection_reused === true ? 'upstream' : null;
  return { status: response.status_code, errorCode, location, answeredBy, decisions };
}

/** What the upstream must have answered; null where the edge answered, or nobody did. */
function upstreamOf({ status, errorCode, answeredBy }: RecordedOutcome): Answers['forward'] | null {
  const failure = FAILURES[/(\d+)$/.exec(errorCode)?.[1] ?? ''];
  if (failure !== undefined) return { failure, detail: 'as recorded' };
  if (answeredBy === 'edge') return null;
  return { head: { status, headers: [] }, reused: false };
}
