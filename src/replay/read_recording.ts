import { DECISIONS } from '../events/fields.ts';
import { isRedacted } from '../http/secrets.ts';
import type { Connection } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import { readRequestHead } from '../engine/request_head.ts';
import { allValues, firstValue } from '../http/fields.ts';
import { parseAddress } from '../net/address.ts';
import { marksInUrl } from './keyed_hashes.ts';
import { NO_NAMES, type LogRecord, type Part, type RecordedOutcome } from './log_record.ts';
import {
  type RecordedExchange,
  type RecordedFetch,
  type RecordedForward,
  type RecordingHead,
  bytesOf,
} from './recording.ts';

export function isRecordingHead(value: unknown): value is RecordingHead {
  return typeof (value as { edgeproof_recording?: unknown } | null)?.edgeproof_recording === 'number';
}

/** Reads one exchange of a recording; redacted and truncated parts are missing, all others exact. */
export function readRecording(
  exchange: RecordedExchange,
  line: number,
): LogRecord | { readonly problem: string } {
  const { request, client, forwards, fetches, agent_endpoint: endpoint } = exchange;
  const address = parseAddress(client.ip);
  if (address === null) return { problem: `'${client.ip}' is not an IP address` };
  const startMs = Date.parse(client.connected);
  const connection: Connection = {
    client: address,
    clientPort: client.port,
    serverIp: client.server_ip,
    serverPort: client.server_port,
    serverName: client.server_name,
    startMs: Number.isNaN(startMs) ? 0 : startMs,
    tls: tlsOf(client.tls),
  };
  const { method, scheme, version, headers } = request;
  // The redaction marker has characters that are not valid in a query; it is replaced so that the request stays
  // well-formed.
  const target = marksInUrl(request.target);
  const atMs = Date.parse(exchange.at);
  const last = forwards.at(-1) ?? null;
  const answered = last?.response ?? null;
  const lost = new Set<Part>(['TLS handshake', 'session', 'request timing', 'request trailers']);
  if (target !== request.target) {
    lost.add('query');
    if (isRedacted(request.target.split('?')[0]!)) lost.add('path');
  }
  if ((connection.tls?.clientCertificate ?? null) !== null) lost.add('client certificate');
  if (answered?.headers.some(isRedacted) === true) lost.add('response headers');
  return {
    line,
    head: readRequestHead({ method, scheme, version, headers, target }),
    connection,
    atMs: Number.isNaN(atMs) ? connection.startMs : atMs,
    body: bytesOf(request.body),
    upstream: last === null ? null : forwardAnswer(last),
    upstreamBody: answered === null ? null : bytesOf(answered.body),
    fetched: fetchAnswers(fetches),
    outcome: outcomeOf(exchange),
    backends: {
      root: exchange.backend?.id ?? null,
      candidates: new Set(exchange.backend?.candidates ?? forwards.map(({ backend }) => backend)),
    },
    ...(typeof endpoint === 'string' && { agentEndpoint: endpoint }),
    keptCase: 'all',
    redacted: redactedNames(headers),
    dropped: NO_NAMES,
    lost,
  };
}

function redactedNames(headers: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = 0; at < headers.length; at += 2) {
    if (isRedacted(headers[at + 1]!)) names.add(headers[at]!.toLowerCase());
  }
  return names;
}

function tlsOf(tls: RecordedExchange['client']['tls']): Connection['tls'] {
  if (tls === null) return null;
  const { version, cipher_suite: cipherSuite, client_certificate: certificate } = tls;
  return {
    version,
    cipherSuite,
    clientCertificate:
      certificate === null
        ? null
        : { serialNumber: certificate.serial_number, subjectCn: certificate.subject_cn },
  };
}

// table: failures of upstreams, as the engine names them
const FAILURES: Readonly<Record<string, Extract<Answers['forward'], { failure: unknown }>['failure']>> = {
  connect: 'connect',
  overloaded: 'overloaded',
  timeout: 'timeout',
  reset: 'reset',
  invalid: 'invalid',
  cancelled: 'cancelled',
  body_timeout: 'body_timeout',
  body_malformed: 'body_malformed',
  body_extensions_too_large: 'body_extensions_too_large',
  body_trailers_too_large: 'body_trailers_too_large',
};

function forwardAnswer({
  response,
  failure,
  repeatable,
  reused,
}: RecordedForward): Answers['forward'] | null {
  if (response !== null) return { head: { status: response.status, headers: response.headers }, reused };
  const known = FAILURES[failure ?? ''];
  return known === undefined
    ? null
    : { failure: known, detail: 'as recorded', ...(repeatable === true && { isRepeatable: true }) };
}

function fetchAnswers(fetches: readonly RecordedFetch[]): LogRecord['fetched'] {
  if (fetches.length === 0) return null;
  const answers = new Map<string, Answers['fetch']>();
  for (const { method, url, response, failure } of fetches) {
    const body = response === null ? null : bytesOf(response.body);
    if (response !== null && body !== null) {
      const { status, headers } = response;
      answers.set(`${method} ${url}`, { status, headers, body, resolvedIp: '', timeMs: 0 });
    } else if (failure === 'connect' || failure === 'timeout') {
      answers.set(`${method} ${url}`, { failure, detail: 'as recorded' });
    }
  }
  return answers;
}

/** If the client left, the response that it would have got is unknown. */
function outcomeOf({ response, event, forwards }: RecordedExchange): RecordedOutcome | null {
  if (response === null) return null;
  return {
    status: response.status,
    errorCode: errorCodeOf(response.headers),
    location: firstValue(response.headers, 'location') ?? null,
    answeredBy: forwards.at(-1)?.response === null || forwards.length === 0 ? 'edge' : 'upstream',
    decisions: decisionsIn(event),
    body: bytesOf(response.body),
  };
}

/** The decisions of modules in an event, by module. */
function decisionsIn(event: unknown): Readonly<Record<string, string>> {
  const groups = event as Readonly<Record<string, { readonly decision?: unknown } | null>> | null;
  return Object.fromEntries(
    DECISIONS.map(([module, path]) => {
      const decision = groups?.[path.split('.', 1)[0]!]?.decision;
      return [module, typeof decision === 'string' ? decision : 'invalid'];
    }),
  );
}

function errorCodeOf(headers: readonly string[]): string {
  const name = headers.find((text, at) => at % 2 === 0 && /-error-code$/i.test(text));
  return name === undefined ? '' : (allValues(headers, name.toLowerCase())[0] ?? '').toUpperCase();
}
