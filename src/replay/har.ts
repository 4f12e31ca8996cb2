import { connectionOf, headOf } from '../engine/request_like.ts';
import { NO_NAMES, type LogRecord, type Part, type RecordedOutcome, NEVER_LOGGED } from './log_record.ts';
import type { RecordedBody, RecordedExchange, RecordedResponse } from './recording.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { fieldPairs } from '../http/fields.ts';
import { aNumber, aText, listOf, misshapen, objectOf, orAbsent, orNull } from './shape.ts';
import type { Shape } from './shape.ts';

/**
 * HTTP Archive 1.2 (W3C editor's draft): the members that a replay reads, and the form in which recordings are
 * exported.
 */
interface HarPair {
  readonly name: string;
  readonly value: string;
}

/** Some programs write null for what they do not have. */
type Missing = null | undefined;

interface HarEntry {
  readonly startedDateTime?: string | Missing;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers?: readonly HarPair[] | Missing;
    readonly bodySize?: number | Missing;
    readonly postData?: { readonly text?: string | Missing; readonly encoding?: string | Missing } | Missing;
  };
  readonly response?:
    | { readonly status?: number | Missing; readonly headers?: readonly HarPair[] | Missing }
    | Missing;
  /** Our extension: the address of the client, which a browser does not know. */
  readonly _clientAddress?: string | Missing;
}

const orMissing = (shape: Shape): Shape => orAbsent(orNull(shape));
const PAIRS = orMissing(listOf(objectOf({ name: aText, value: aText })));
const ENTRY = objectOf({
  startedDateTime: orMissing(aText),
  request: objectOf({
    method: aText,
    url: aText,
    headers: PAIRS,
    bodySize: orMissing(aNumber),
    postData: orMissing(objectOf({ text: orMissing(aText), encoding: orMissing(aText) })),
  }),
  response: orMissing(objectOf({ status: orMissing(aNumber), headers: PAIRS })),
  _clientAddress: orMissing(aText),
});

export interface Har {
  readonly log: { readonly entries: readonly unknown[] };
}

export function isHar(value: unknown): value is Har {
  return Array.isArray((value as { log?: { entries?: unknown } } | null | undefined)?.log?.entries);
}

/** Browsers silently leave these out of their exports. */
const OFTEN_DROPPED = ['authorization', 'cookie'];

/**
 * The requests of an archive, in order. The recorded response is what the client got, not what the upstream
 * sent.
 */
export function harRecords(har: Har): (LogRecord | { readonly problem: string })[] {
  return har.log.entries.map((entry, index) => {
    const place = ENTRY(entry, '');
    if (place === null) return harRecord(entry as HarEntry, index + 1);
    return { problem: misshapen(`entry ${index + 1} of the archive`, place) };
  });
}

function harRecord(entry: HarEntry, line: number): LogRecord | { readonly problem: string } {
  const { request, response } = entry;
  const clientIp = entry._clientAddress ?? undefined;
  const headers = fieldsOf(request.headers ?? []);
  const names = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  const atMs = Date.parse(entry.startedDateTime ?? '');
  const startMs = Number.isNaN(atMs) ? 0 : atMs;
  const url = request.url.replace(/#.*$/s, '');
  try {
    const head = headOf({ method: request.method, url, headers: fieldPairs(headers) });
    const { scheme } = 'refused' in head ? head.head : head;
    const outcome = outcomeOf(response);
    return {
      line,
      head,
      connection: connectionOf(clientIp === undefined ? {} : { clientIp }, scheme, startMs),
      atMs: startMs,
      body: bodyOf(entry),
      upstream: outcome === null || outcome.errorCode !== '' ? null : answerOf(outcome.status),
      upstreamBody: null,
      fetched: null,
      outcome,
      keptCase: 'all',
      redacted: NO_NAMES,
      dropped: new Set(OFTEN_DROPPED.filter((name) => !names.has(name))),
      lost: new Set<Part>(clientIp === undefined ? [...NEVER_LOGGED, 'client address'] : NEVER_LOGGED),
    };
  } catch (error) {
    return { problem: errorText(error) };
  }
}

function answerOf(status: number): LogRecord['upstream'] {
  return { head: { status, headers: [] }, reused: false };
}

function outcomeOf(response: HarEntry['response']): RecordedOutcome | null {
  const headers = response?.headers ?? [];
  const status = response?.status ?? 0;
  if (status === 0) return null;
  const location = headers.find(({ name }) => /^location$/i.test(name))?.value ?? null;
  return { status, errorCode: errorCodeOf(headers), location, answeredBy: null, decisions: null, body: null };
}

/** Fields without the pseudo-fields of HTTP/2. */
function fieldsOf(headers: readonly HarPair[]): string[] {
  return headers.filter(({ name }) => !name.startsWith(':')).flatMap(({ name, value }) => [name, value]);
}

function bodyOf({ request: { postData, bodySize, method } }: HarEntry): Uint8Array | null {
  const text = postData?.text ?? null;
  if (text !== null)
    return new Uint8Array(Buffer.from(text, postData?.encoding === 'base64' ? 'base64' : 'utf8'));
  const isEmpty = bodySize === 0 || method === 'GET' || method === 'HEAD';
  return isEmpty ? new Uint8Array(0) : null;
}

function errorCodeOf(headers: readonly HarPair[]): string {
  return headers.find(({ name }) => /-error-code$/i.test(name))?.value.toUpperCase() ?? '';
}

/** A recording as an HTTP Archive for browsers and other tools. */
export function harOf(exchanges: readonly RecordedExchange[], version: string): object {
  const entries = exchanges.map((exchange) => {
    const { request, response, client, at } = exchange;
    const authority = request.headers.find((_, index) => /^host$/i.test(request.headers[index - 1] ?? ''));
    const url = `${request.scheme}://${authority ?? client.server_ip}${request.target}`;
    return {
      startedDateTime: at,
      time: 0,
      request: {
        method: request.method,
        url,
        httpVersion: `HTTP/${request.version}`,
        cookies: [],
        headers: harPairs(request.headers),
        queryString: queryOf(request.target),
        headersSize: -1,
        bodySize: request.body.bytes ?? -1,
        ...postDataOf(request.body, request.headers),
      },
      response: response === null ? NO_RESPONSE : harResponse(response),
      cache: {},
      timings: { send: 0, wait: 0, receive: 0 },
      serverIPAddress: client.server_ip,
      _clientAddress: client.ip,
      _redactions: exchange.redactions,
    };
  });
  return { log: { version: '1.2', creator: { name: 'edgeproof', version }, entries } };
}

const NO_RESPONSE = {
  status: 0,
  statusText: '',
  httpVersion: '',
  cookies: [],
  headers: [],
  content: { size: 0, mimeType: 'x-unknown' },
  redirectURL: '',
  headersSize: -1,
  bodySize: -1,
};

function harResponse({ status, headers, body }: RecordedResponse): object {
  const pairs = harPairs(headers);
  const value = (wanted: string) => pairs.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const text = body.text ?? body.base64;
  return {
    status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs,
    content: {
      size: body.bytes ?? 0,
      mimeType: value('content-type') ?? 'x-unknown',
      ...(text !== undefined && { text }),
      ...(body.base64 !== undefined && { encoding: 'base64' }),
      ...(body.truncated === true && { comment: 'truncated' }),
    },
    redirectURL: value('location') ?? '',
    headersSize: -1,
    bodySize: body.bytes ?? -1,
  };
}

function postDataOf(body: RecordedBody, headers: readonly string[]): object {
  const text = body.text ?? body.base64;
  if (text === undefined || text === '') return {};
  const type = headers[headers.findIndex((name, at) => at % 2 === 0 && /^content-type$/i.test(name)) + 1];
  const encoding = body.base64 === undefined ? {} : { encoding: 'base64' };
  return { postData: { mimeType: type ?? 'application/octet-stream', text, ...encoding } };
}

function queryOf(target: string): HarPair[] {
  const mark = target.indexOf('?');
  return mark < 0
    ? []
    : [...new URLSearchParams(target.slice(mark + 1))].map(([name, value]) => ({ name, value }));
}

function harPairs(fields: readonly string[]): HarPair[] {
  return fieldPairs(fields).map(([name, value]) => ({ name, value }));
}
