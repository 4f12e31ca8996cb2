import type { HttpRequestComplete } from '../events/catalogue.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import type { AnswerTo, Answers, Question, UpstreamRequest } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import { traceOf } from '../engine/trace.ts';
import { backend } from '../filters/backend/facts.ts';
import { firstValue, hasField } from '../http/fields.ts';
import {
  type RecordedBody,
  type RecordedExchange,
  type RecordedFetch,
  type RecordedForward,
  type RecordedResponse,
  recordedBody,
} from './recording.ts';

/** The bytes of a passing body: the beginning is kept, all are counted. */
export interface KeptBytes {
  readonly add: (bytes: Uint8Array) => void;
  readonly body: () => RecordedBody;
}

/** Observes questions and answers between the engine and its driver, and makes a record of each exchange. */
export interface RecordingSink {
  /** A question of the engine, before it is answered. */
  readonly asked: (exchange: object, question: Question | null) => void;
  readonly answered: (exchange: object, given: AnswerTo<Question>) => void;
  /**
   * Receivers for the bodies of a forward, by the header list that is sent; null if the request is not
   * recorded.
   */
  readonly bodiesOf: (headers: readonly string[]) => {
    readonly request: KeptBytes;
    readonly response: KeptBytes;
  } | null;
  /** The exchange is complete; `agentUrl` is that of the endpoint of an agent that it reached, if it did. */
  readonly finished: (exchange: Exchange, event: HttpRequestComplete, agentUrl: string | null) => void;
}

interface Forwarding {
  readonly request: UpstreamRequest;
  readonly requestBody: KeptBytes;
  readonly responseBody: KeptBytes;
  given: Answers['forward'] | null;
}

interface Draft {
  question: Question | null;
  body: Uint8Array | null;
  readonly forwards: Forwarding[];
  readonly fetches: RecordedFetch[];
  reply: Uint8Array | 'upstream' | null;
}

/** A sink that passes each record to `write`. At most `bodyLimit` bytes of each body are kept. */
export function recordingSink(write: (exchange: RecordedExchange) => void, bodyLimit: number): RecordingSink {
  const draftOf = weakMemoize((_exchange: object): Draft => ({
    question: null,
    body: null,
    forwards: [],
    fetches: [],
    reply: null,
  }));
  const forwardings = new WeakMap<readonly string[], Forwarding>();
  return {
    asked: (exchange, question) => {
      if (question === null) return;
      const draft = draftOf(exchange);
      draft.question = question;
      if (question.ask === 'forward') {
        const { request } = question;
        const forwarding: Forwarding = {
          request,
          requestBody: keptBytes(bodyLimit),
          responseBody: keptBytes(bodyLimit),
          given: null,
        };
        draft.forwards.push(forwarding);
        forwardings.set(request.headers, forwarding);
      } else if (question.ask === 'reply') {
        const { body } = question.reply;
        draft.reply = body === 'upstream' ? body : 'text' in body ? Buffer.from(body.text) : body.bytes;
      }
    },
    answered: (exchange, given) => {
      const draft = draftOf(exchange);
      const { question } = draft;
      if (question?.ask === 'body' && 'bytes' in given) draft.body = given.bytes;
      else if (question?.ask === 'forward') draft.forwards.at(-1)!.given = given as Answers['forward'];
      else if (question?.ask === 'fetch') {
        const { method, url } = question.request;
        draft.fetches.push({ method, url, ...fetchAnswer(given as Answers['fetch'], bodyLimit) });
      }
    },
    bodiesOf: (headers) => {
      const found = forwardings.get(headers);
      return found === undefined ? null : { request: found.requestBody, response: found.responseBody };
    },
    finished: (exchange, event, agentUrl) => {
      const record = recordOf(exchange, draftOf(exchange), event, bodyLimit);
      write(agentUrl === null ? record : { ...record, agent_endpoint: agentUrl });
    },
  };
}

function keptBytes(limitBytes: number): KeptBytes {
  const pieces: Uint8Array[] = [];
  let keptCount = 0;
  let count = 0;
  return {
    add: (bytes) => {
      count += bytes.length;
      if (keptCount >= limitBytes) return;
      // The buffer may be reused after it has been passed on.
      const piece = Uint8Array.from(bytes.subarray(0, limitBytes - keptCount));
      keptCount += piece.length;
      pieces.push(piece);
    },
    body: () => recordedBody(Buffer.concat(pieces), count, limitBytes),
  };
}

function fetchAnswer(
  given: Answers['fetch'],
  bodyLimit: number,
): Pick<RecordedFetch, 'response' | 'failure'> {
  if ('failure' in given) return { response: null, failure: given.failure };
  const { status, headers, body } = given;
  return { response: { status, headers, body: recordedBody(body, body.length, bodyLimit) } };
}

function recordOf(
  exchange: Exchange,
  draft: Draft,
  event: HttpRequestComplete,
  bodyLimit: number,
): RecordedExchange {
  const { head, connection } = exchange;
  const { method, scheme, sentTarget, version, headers } = head;
  const steps = traceOf(exchange);
  const id = steps.findLast(({ module }) => module === backend.module.type)?.detail['backend'];
  return {
    at: new Date(exchange.startMs).toISOString(),
    request: {
      method,
      scheme,
      target: sentTarget,
      version,
      headers,
      body: requestBody(exchange, draft, bodyLimit),
    },
    client: clientOf(connection),
    backend: { id: typeof id === 'string' ? id : null, candidates: candidatesOf(exchange) },
    forwards: draft.forwards.map(recordedForward),
    fetches: draft.fetches,
    response: responseOf(exchange, draft, bodyLimit),
    event,
    trace: steps.map(({ module, verdict, code, pointer }) => ({ module, verdict, code, pointer })),
    redactions: [],
  };
}

function candidatesOf({ inside, candidates }: Exchange): readonly string[] {
  return inside === null ? (candidates ?? []).map(({ id }) => id) : candidatesOf(inside);
}

/** The body as read by a handler or an upstream; a body that was not read is only counted. */
function requestBody({ head, sent }: Exchange, draft: Draft, bodyLimit: number): RecordedBody {
  const { body: read } = draft;
  if (read !== null) return recordedBody(read, read.length, bodyLimit);
  const declared = firstValue(head.headers, 'content-length');
  const hasNone = declared === undefined && !hasField(head.headers, 'transfer-encoding');
  if (hasNone || declared === '0') return { bytes: 0, text: '' };
  const forwarded = draft.forwards.at(-1)?.requestBody.body();
  if (forwarded !== undefined && (sent?.requestBytes ?? 0) > 0) return forwarded;
  return { bytes: declared !== undefined && /^\d{1,15}$/.test(declared) ? Number(declared) : null };
}

function responseOf({ response, sent }: Exchange, draft: Draft, bodyLimit: number): RecordedResponse | null {
  if (response === null) return null;
  const { status, headers } = response;
  const size = sent === null ? null : sent.responseBytes;
  const { reply } = draft;
  // A streamed response is recorded with the upstream's response; this is only what the client got of it.
  const body =
    reply === null || reply === 'upstream' ? { bytes: size } : recordedBody(reply, size, bodyLimit);
  return { status, headers, body };
}

function recordedForward({ request, responseBody, given }: Forwarding): RecordedForward {
  const { endpoint: to, target, headers } = request;
  const own = { backend: to.id, address: to.tunnel ?? `${to.host}:${to.port}`, target, headers };
  if (given === null) return { ...own, response: null, reused: false };
  if ('failure' in given) {
    const { failure, isRepeatable } = given;
    return { ...own, response: null, failure, ...(isRepeatable && { repeatable: true }), reused: false };
  }
  const { status, headers: fields } = given.head;
  return {
    ...own,
    response: { status, headers: fields, body: responseBody.body() },
    reused: given.reused,
  };
}

function clientOf({
  client,
  clientPort,
  serverIp,
  serverPort,
  serverName,
  startMs,
  tls,
}: Exchange['connection']): RecordedExchange['client'] {
  const certificate = tls?.clientCertificate ?? null;
  return {
    ip: client.text,
    port: clientPort,
    server_ip: serverIp,
    server_port: serverPort,
    server_name: serverName,
    connected: new Date(startMs).toISOString(),
    tls: tls && {
      version: tls.version,
      cipher_suite: tls.cipherSuite,
      client_certificate: certificate && {
        serial_number: certificate.serialNumber,
        subject_cn: certificate.subjectCn,
      },
    },
  };
}
