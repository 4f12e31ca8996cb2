import type { AnswerTo, Answers, Question, UpstreamRequest } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import { type Step, traceOf } from '../engine/trace.ts';
import { contentLength } from '../http/content_length.ts';
import { firstValue, hasField } from '../http/fields.ts';
import { chosenBackend } from './chosen_backend.ts';
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
  /** Bytes that are kept. */
  readonly size: () => number;
}

/** A request to an upstream, with what passed of its bodies. */
export interface ForwardNotes {
  readonly request: UpstreamRequest;
  readonly requestBody: KeptBytes;
  readonly responseBody: KeptBytes;
  given: Answers['forward'] | null;
}

const NO_FORWARDS: readonly ForwardNotes[] = [];
const NO_FETCHES: readonly RecordedFetch[] = [];

/** What is noted of an exchange between the engine and its driver, at most `bodyLimit` bytes of each body. */
export class ExchangeNotes {
  /** Replaced by a list of exact length: one that grows has room for 17, and thousands of these are kept. */
  forwards: readonly ForwardNotes[] = NO_FORWARDS;
  readonly #bodyLimit: number;
  #fetches: readonly RecordedFetch[] = NO_FETCHES;
  #question: Question | null = null;
  #body: Uint8Array | null = null;
  #reply: Uint8Array | 'upstream' | null = null;

  constructor(bodyLimit: number) {
    this.#bodyLimit = bodyLimit;
  }

  /** A question of the engine, before it is answered; returns the notes of a new forward, and null for others. */
  asked(question: Question): ForwardNotes | null {
    this.#question = question;
    if (question.ask === 'forward') {
      const requestBody = new BodyBytes(this.#bodyLimit);
      const responseBody = new BodyBytes(this.#bodyLimit);
      const forward = { request: question.request, requestBody, responseBody, given: null };
      this.forwards = [...this.forwards, forward];
      return forward;
    }
    if (question.ask === 'reply') {
      const { body } = question.reply;
      this.#reply = body === 'upstream' ? body : 'text' in body ? Buffer.from(body.text) : body.bytes;
    }
    return null;
  }

  answered(given: AnswerTo<Question>): void {
    const question = this.#question;
    this.#question = null;
    if (question?.ask === 'body' && 'bytes' in given) this.#body = given.bytes;
    else if (question?.ask === 'forward') this.forwards.at(-1)!.given = given as Answers['forward'];
    else if (question?.ask === 'fetch') {
      const { method, url } = question.request;
      const answer = fetchAnswer(given as Answers['fetch'], this.#bodyLimit);
      this.#fetches = [...this.#fetches, { method, url, ...answer }];
    }
  }

  /** Bytes of bodies that are kept. */
  bytes(): number {
    const streamed = this.forwards.reduce(
      (sum, each) => sum + each.requestBody.size() + each.responseBody.size(),
      0,
    );
    return (
      streamed + (this.#body?.length ?? 0) + (this.#reply === 'upstream' ? 0 : (this.#reply?.length ?? 0))
    );
  }

  /** The record of the exchange, which may still be open, apart from its event. */
  record(exchange: Exchange): Omit<RecordedExchange, 'event'> {
    const { head, connection } = exchange;
    const { method, scheme, sentTarget, version, headers } = head;
    const steps = traceOf(exchange);
    return {
      at: new Date(exchange.startMs).toISOString(),
      request: {
        method,
        scheme,
        target: sentTarget,
        version,
        headers,
        body: this.#requestBody(exchange),
      },
      client: clientOf(connection),
      backend: { id: lastBackend(steps), candidates: candidatesOf(exchange) },
      forwards: this.forwards.map(recordedForward),
      fetches: this.#fetches,
      response: this.#response(exchange),
      trace: steps.map(({ module, verdict, code, pointer }) => ({ module, verdict, code, pointer })),
      redactions: [],
    };
  }

  /** The body as read by a handler or an upstream; a body that was not read is only counted. */
  #requestBody({ head, sent }: Exchange): RecordedBody {
    const read = this.#body;
    if (read !== null) return recordedBody(read, read.length, this.#bodyLimit);
    const forwarded = this.forwards.at(-1)?.requestBody.body();
    // In HTTP/2 a body needs no field that announces it.
    if (forwarded !== undefined && (sent?.requestBytes ?? 0) > 0) return forwarded;
    const declared = firstValue(head.headers, 'content-length');
    const hasNone = declared === undefined && !hasField(head.headers, 'transfer-encoding');
    if (hasNone || declared === '0') return { bytes: 0, text: '' };
    return { bytes: contentLength(head.headers) };
  }

  #response({ response, sent }: Exchange): RecordedResponse | null {
    if (response === null) return null;
    const { status, headers } = response;
    const size = sent === null ? null : sent.responseBytes;
    const reply = this.#reply;
    // A streamed response is recorded with the upstream's response; this is only what the client got of it.
    const body =
      reply === null || reply === 'upstream' ? { bytes: size } : recordedBody(reply, size, this.#bodyLimit);
    return { status, headers, body };
  }
}

/** There are two of these for each request that is kept, most of them empty. */
class BodyBytes implements KeptBytes {
  readonly #limit: number;
  /** Most bodies are one piece. */
  #first: Uint8Array | null = null;
  /** What follows it, joined, so that a body in many small pieces takes no more memory than its bytes. */
  #rest: Buffer | null = null;
  #kept = 0;
  #count = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  add(bytes: Uint8Array): void {
    this.#count += bytes.length;
    if (this.#kept >= this.#limit) return;
    const piece = Buffer.from(
      bytes.buffer,
      bytes.byteOffset,
      Math.min(bytes.length, this.#limit - this.#kept),
    );
    this.#kept += piece.length;
    // The buffer may be reused after it has been passed on. Copies of short ones have their memory together.
    if (this.#first === null) this.#first = Buffer.from(piece);
    else this.#join(piece, this.#kept - piece.length - this.#first.length);
  }

  /** Adds a piece to the rest, which has `at` bytes. */
  #join(piece: Buffer, at: number): void {
    let rest = this.#rest;
    if (rest === null || rest.length < at + piece.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, 2 * (at + piece.length)));
      rest?.copy(larger, 0, 0, at);
      this.#rest = rest = larger;
    }
    piece.copy(rest, at);
  }

  body(): RecordedBody {
    const pieces = [this.#first, this.#rest].filter((piece) => piece !== null);
    return recordedBody(Buffer.concat(pieces, this.#kept), this.#count, this.#limit);
  }

  size(): number {
    return this.#kept;
  }
}

function fetchAnswer(
  given: Answers['fetch'],
  bodyLimit: number,
): Pick<RecordedFetch, 'response' | 'failure'> {
  if ('failure' in given) return { response: null, failure: given.failure };
  const { status, headers, body } = given;
  return { response: { status, headers, body: recordedBody(body, body.length, bodyLimit) } };
}

function lastBackend(steps: readonly Step[]): string | null {
  for (const { module, detail } of steps.toReversed()) {
    const id = chosenBackend(module, detail);
    if (id !== null) return id;
  }
  return null;
}

function candidatesOf({ inside, candidates }: Exchange): readonly string[] {
  return inside === null ? (candidates ?? []).map(({ id }) => id) : candidatesOf(inside);
}

function recordedForward({ request, responseBody, given }: ForwardNotes): RecordedForward {
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
