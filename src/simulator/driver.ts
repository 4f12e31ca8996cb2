import type {
  AnswerTo,
  Answers,
  FetchRequest,
  Question,
  ResponseHead,
  SignatureRequest,
} from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import { NOTHING_SENT, abandon, answer, start } from '../engine/run.ts';
import { compress } from './compress.ts';
import { NO_RESPONSE, type Flight, replied } from './flight.ts';
import type { Answering, Upstreams } from './upstreams.ts';
import type { VirtualClock } from './virtual_clock.ts';

/** How long an upstream may take; the defaults are those of the live proxy. */
export interface VirtualLimits {
  /** Until the head of the response. */
  readonly headMs: number;
}

export const DEFAULT_LIMITS: VirtualLimits = { headMs: 60_000 };

/** Identity providers without a network: what the driver asks of them, and how long they take. */
export interface SimulatedProviders {
  readonly oidc: (question: OidcQuestion) => { readonly given: Answers['oidc']; readonly afterMs: number };
  /** Null when the URL is none of theirs. */
  readonly fetch: (
    request: FetchRequest,
  ) => { readonly given: Answers['fetch']; readonly afterMs: number } | null;
  /** Verifies signatures of what they have said. */
  readonly verify: (request: SignatureRequest) => Answers['signature'];
}

/** Whatever the driver plays with. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly upstreams: Upstreams;
  readonly limits: VirtualLimits;
  /** Identity providers; without them none can be reached. */
  readonly providers?: SimulatedProviders;
}

const NO_BYTES = new Uint8Array(0);
const UNVERIFIED = { failure: 'unavailable', detail: 'nothing verifies signatures here' } as const;
const NO_PROVIDER = {
  given: { failure: 'unreachable', detail: 'no identities are simulated' },
  afterMs: 0,
} as const;
const NO_FLIGHT_DATA = { body: NO_BYTES, isCut: false };

/**
 * Answers the engine's questions from the script, on the virtual clock. An exchange in which nothing takes time
 * runs to its end at once; else what comes next is scheduled. `landed` is called when the exchange is complete.
 */
export function drive(
  flight: Flight,
  stage: Stage,
  landed: (flight: Flight) => void,
  leaveAfterMs: number,
): void {
  if (leaveAfterMs >= 0) {
    stage.clock.schedule(stage.clock.nowMs() + leaveAfterMs, () => {
      if (flight.exchange.stage === 'done') return;
      flight.response = NO_RESPONSE;
      abandon(flight.exchange, NOTHING_SENT);
      landed(flight);
    });
  }
  goOn(flight, start(flight.exchange), NO_FLIGHT_DATA, stage, landed);
}

/** The body that the last upstream answered with. */
interface UpstreamBody {
  readonly body: Uint8Array;
  readonly isCut: boolean;
}

function goOn(
  flight: Flight,
  asked: Question | null,
  upstreamBody: UpstreamBody,
  stage: Stage,
  landed: (flight: Flight) => void,
): void {
  const { exchange } = flight;
  let question = asked;
  let upstream = upstreamBody;
  while (question !== null) {
    switch (question.ask) {
      case 'forward': {
        const answering = stage.upstreams.answerOf(question.request.leaf.id);
        (flight.seen ??= []).push({
          request: question.request,
          body: question.request.body ?? flight.requestBody,
        });
        const { given, afterMs } = forwarded(answering, stage, question.request.converts);
        upstream = { body: answering.body, isCut: answering.fault === 'half' };
        if (afterMs > 0) return later(flight, given, upstream, afterMs, stage, landed);
        question = answer(exchange, given);
        break;
      }
      case 'fetch': {
        const { given, afterMs } =
          stage.providers?.fetch(question.request) ?? fetched(question.request, stage);
        (flight.fetched ??= []).push(question.request);
        if (afterMs > 0) return later(flight, given, upstream, afterMs, stage, landed);
        question = answer(exchange, given);
        break;
      }
      case 'reply': {
        const { response, sent } = replied(question.reply, flight, upstream.body, upstream.isCut, compress);
        flight.response = response;
        question = answer(exchange, sent);
        break;
      }
      case 'oidc': {
        const { given, afterMs } = stage.providers?.oidc(question) ?? NO_PROVIDER;
        if (afterMs > 0) return later(flight, given, upstream, afterMs, stage, landed);
        question = answer(exchange, given);
        break;
      }
      case 'signature':
        question = answer(exchange, stage.providers?.verify(question.request) ?? UNVERIFIED);
        break;
      case 'body':
        question = answer(exchange, bodyFor(flight.requestBody, question.limitBytes));
        break;
      case 'response_body':
        question = answer(exchange, responseBodyFor(exchange, upstream, question.limitBytes));
        break;
    }
  }
  landed(flight);
}

function later(
  flight: Flight,
  given: AnswerTo<Question>,
  upstream: UpstreamBody,
  afterMs: number,
  stage: Stage,
  landed: (flight: Flight) => void,
): void {
  stage.clock.schedule(stage.clock.nowMs() + afterMs, () => {
    // The client may have left meanwhile.
    if (flight.exchange.stage === 'done') return;
    goOn(flight, answer(flight.exchange, given), upstream, stage, landed);
  });
}

function bodyFor(bytes: Uint8Array, limitBytes: number): Answers['body'] {
  return bytes.length > limitBytes ? { failure: 'too_large' } : { bytes };
}

function responseBodyFor(
  { body }: Exchange,
  upstream: UpstreamBody,
  limitBytes: number,
): Answers['response_body'] {
  if (body !== 'upstream') {
    const bytes = 'text' in body ? new TextEncoder().encode(body.text) : body.bytes;
    return bytes.length > limitBytes ? { failure: 'too_large' } : { bytes };
  }
  if (upstream.isCut) return { failure: 'reset' };
  return upstream.body.length > limitBytes ? { failure: 'too_large' } : { bytes: upstream.body };
}

/** What the upstream answers, and after how long: never later than the limit. */
function forwarded(
  answering: Answering,
  { upstreams, limits }: Stage,
  converts?: ResponseHead,
): { readonly given: Answers['forward']; readonly afterMs: number } {
  const latencyMs = upstreams.latencyOf(answering);
  if (answering.fault === 'hang' || latencyMs > limits.headMs) {
    const detail = `no answer within ${limits.headMs} ms`;
    return { given: { failure: 'timeout', detail }, afterMs: limits.headMs };
  }
  switch (answering.fault) {
    case 'refuse':
      return { given: { failure: 'connect', detail: 'connection refused' }, afterMs: latencyMs };
    case 'reset':
      return { given: { failure: 'reset', detail: 'connection reset' }, afterMs: latencyMs };
    case 'invalid':
      return { given: { failure: 'invalid', detail: 'not HTTP' }, afterMs: latencyMs };
    case 'half':
    case null:
      return {
        // A backend of TCP has no say in what accepts the WebSocket.
        given: {
          head: converts ?? { status: answering.status, headers: answering.headers },
          reused: false,
        },
        afterMs: latencyMs,
      };
  }
}

function fetched(
  request: FetchRequest,
  { upstreams }: Stage,
): { readonly given: Answers['fetch']; readonly afterMs: number } {
  const answering = upstreams.answerAt(request.url);
  if (answering === null) {
    const detail = 'no script answers this URL';
    return { given: { failure: 'connect', detail }, afterMs: 0 };
  }
  const latencyMs = upstreams.latencyOf(answering);
  if (answering.fault === 'hang' || latencyMs > request.timeoutMs) {
    const detail = `no answer within ${request.timeoutMs} ms`;
    return { given: { failure: 'timeout', detail }, afterMs: request.timeoutMs };
  }
  const { status, headers, body, fault } = answering;
  if (fault !== null) {
    const failure = fault === 'refuse' ? 'connect' : 'invalid';
    return { given: { failure, detail: `the script says ${fault}` }, afterMs: latencyMs };
  }
  if (body.length > request.limitBytes) {
    return { given: { failure: 'too_large', detail: `${body.length} bytes` }, afterMs: latencyMs };
  }
  return { given: { status, headers, body, resolvedIp: '', timeMs: latencyMs }, afterMs: latencyMs };
}
