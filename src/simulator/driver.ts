import { RESPONSE_HEAD_MS } from '../http/message_limits.ts';
import type {
  AnswerTo,
  Answers,
  FetchRequest,
  Question,
  Reply,
  Sent,
  SignatureRequest,
  UpstreamRequest,
} from '../engine/contract.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import { NOTHING_SENT, abandon } from '../engine/run.ts';
import { HTTP_ENGINE, type HttpDriver, converse, resume } from '../engine/drivers/converse.ts';
import { fieldsOf } from '../engine/drivers/reply_content.ts';
import { WITHOUT_NETWORK, WholeBodies } from '../engine/drivers/whole_bodies.ts';
import { NO_RESPONSE, type SimulatedRequest } from './simulated_request.ts';
import type { Answering, Upstreams } from './upstreams.ts';
import type { VirtualClock } from './virtual_clock.ts';

/** Timeouts of upstreams; the defaults are those of the live proxy. */
export interface VirtualLimits {
  /** Until the head of the response. */
  readonly headMs: number;
}

export const DEFAULT_LIMITS: VirtualLimits = { headMs: RESPONSE_HEAD_MS };

/** Identity providers without a network: the answers to the driver's questions, with delays. */
interface SimulatedProviders {
  readonly oidc: (question: OidcQuestion) => { readonly given: Answers['oidc']; readonly afterMs: number };
  /** Null if the URL does not belong to them. */
  readonly fetch: (
    request: FetchRequest,
  ) => { readonly given: Answers['fetch']; readonly afterMs: number } | null;
  /** Verifies signatures of their responses. */
  readonly verify: (request: SignatureRequest) => Answers['signature'];
}

/** The inputs of the driver. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly upstreams: Upstreams;
  readonly limits: VirtualLimits;
  /** Identity providers; without them none can be reached. */
  readonly providers?: SimulatedProviders;
}

/** An answer, and the virtual time that it takes. */
interface Timed<Answer> {
  readonly given: Answer;
  readonly afterMs: number;
}

/**
 * Answers the engine's questions from the script, on the virtual clock. An exchange without delays runs to its
 * end at once; otherwise the next step is scheduled. `completed` is called when the exchange is complete.
 */
export function drive(
  simulated: SimulatedRequest,
  stage: Stage,
  completed: (simulated: SimulatedRequest) => void,
  leaveAfterMs: number,
): void {
  const { exchange } = simulated;
  const { clock } = stage;
  if (leaveAfterMs >= 0) {
    clock.schedule(clock.nowMs() + leaveAfterMs, () => {
      if (exchange.stage === 'done') return;
      simulated.response = NO_RESPONSE;
      abandon(exchange, NOTHING_SENT);
      completed(simulated);
    });
  }
  const script = new Script(simulated, stage);
  const driver: HttpDriver = {
    ask: (question) => {
      const { given, afterMs } = script.answer(question);
      if (afterMs <= 0) return given;
      clock.schedule(clock.nowMs() + afterMs, () => {
        // The client may have disconnected meanwhile.
        if (exchange.stage !== 'done') resume(HTTP_ENGINE, exchange, given, driver);
      });
      return undefined;
    },
    completed: () => completed(simulated),
  };
  converse(HTTP_ENGINE, exchange, driver);
}

/** The answers to one request. */
class Script {
  readonly #simulated: SimulatedRequest;
  readonly #stage: Stage;
  readonly #bodies: WholeBodies;

  constructor(simulated: SimulatedRequest, stage: Stage) {
    this.#simulated = simulated;
    this.#stage = stage;
    this.#bodies = new WholeBodies(simulated.requestBody);
  }

  answer(question: Question): Timed<AnswerTo<Question>> {
    const { providers } = this.#stage;
    switch (question.ask) {
      case 'forward':
        return this.#forward(question.request);
      case 'fetch':
        (this.#simulated.fetched ??= []).push(question.request);
        return providers?.fetch(question.request) ?? fetched(question.request, this.#stage);
      case 'oidc':
        return providers?.oidc(question) ?? atOnce(WITHOUT_NETWORK.oidc);
      case 'signature':
        return atOnce(providers?.verify(question.request) ?? WITHOUT_NETWORK.signature);
      case 'body':
        return atOnce(this.#bodies.request(question.limitBytes));
      case 'response_body':
        return atOnce(this.#bodies.response(question.limitBytes));
      case 'reply':
        return atOnce(this.#reply(question.reply));
    }
  }

  #forward(request: UpstreamRequest): Timed<Answers['forward']> {
    const answering = this.#stage.upstreams.answerOf(request.endpoint.id, request);
    (this.#simulated.seen ??= []).push({ request, body: this.#bodies.forwarded(request) });
    const timed = forwarded(answering, this.#stage, request);
    if ('head' in timed.given) this.#bodies.keep(request, timed.given.head, ...bodyOf(answering));
    return timed;
  }

  #reply(reply: Reply): Sent {
    const { content, sent } = this.#bodies.reply(reply, this.#simulated.exchange.head.method);
    this.#simulated.response = reply.close
      ? { ...NO_RESPONSE, closed: true }
      : { status: reply.status, headers: fieldsOf(reply), body: content.raw, closed: false };
    return sent;
  }
}

/** The body that arrives, and whether the upstream breaks it off. */
function bodyOf({ body, fault }: Answering): [Uint8Array, boolean] {
  return fault === 'half' ? [body.subarray(0, body.length >> 1), true] : [body, false];
}

function atOnce<Answer>(given: Answer): Timed<Answer> {
  return { given, afterMs: 0 };
}

/** The upstream's response and its delay, at most the timeout. */
function forwarded(
  answering: Answering,
  { upstreams, limits, clock }: Stage,
  { endpoint, converts }: UpstreamRequest,
): { readonly given: Answers['forward']; readonly afterMs: number } {
  const latencyMs = upstreams.latencyOf(answering, endpoint.id, clock.nowMs());
  if (answering.fault === 'hang' || latencyMs > limits.headMs) {
    const detail = `no response within ${limits.headMs} ms`;
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
        // A TCP backend does not influence the head that accepts the WebSocket.
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
  const answering = upstreams.answerAt(request.url, request.method);
  if (answering === null) {
    const detail = 'no script matches this URL';
    return { given: { failure: 'connect', detail }, afterMs: 0 };
  }
  const latencyMs = upstreams.latencyOf(answering, '', 0);
  if (answering.fault === 'hang' || latencyMs > request.timeoutMs) {
    const detail = `no response within ${request.timeoutMs} ms`;
    return { given: { failure: 'timeout', detail }, afterMs: request.timeoutMs };
  }
  const { status, headers, body, fault } = answering;
  if (fault !== null) {
    const failure = fault === 'refuse' ? 'connect' : 'invalid';
    return { given: { failure, detail: `scripted fault: ${fault}` }, afterMs: latencyMs };
  }
  if (body.length > request.limitBytes) {
    return { given: { failure: 'too_large', detail: `${body.length} bytes` }, afterMs: latencyMs };
  }
  return { given: { status, headers, body, resolvedIp: '', timeMs: latencyMs }, afterMs: latencyMs };
}
