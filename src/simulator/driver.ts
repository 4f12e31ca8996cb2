import { RESPONSE_HEAD_MS } from '../http/message_limits.ts';
import type { FetchRequest, SignatureRequest } from '../engine/contract.ts';
import type { AnswerTo, Answers, Question, Reply, Sent, UpstreamRequest } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import type { SharedRequest } from '../engine/shared_question.ts';
import { NOTHING_SENT, abandon } from '../engine/run.ts';
import { HTTP_ENGINE, type HttpDriver, converse, resume } from '../engine/drivers/converse.ts';
import { fieldsOf } from '../engine/drivers/reply_content.ts';
import { WITHOUT_NETWORK, WholeBodies } from '../engine/drivers/whole_bodies.ts';
import { OFFLINE, type Peers, answeringOfAgent, brokenOff } from './agents.ts';
import type { Served } from './nodes/cluster.ts';
import { NO_RESPONSE, type SimulatedRequest } from './simulated_request.ts';
import type { Answering } from './upstreams.ts';
import type { VirtualClock } from './virtual_clock.ts';
import { counted } from '../diagnostics/message_text.ts';

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
export interface DriverInputs extends Peers {
  readonly clock: VirtualClock;
  readonly limits: VirtualLimits;
  /** Identity providers; without them none can be reached. */
  readonly providers?: SimulatedProviders;
  /** The state that nodes share; without it none is shared. */
  readonly shared?: (served: Served, request: SharedRequest) => Timed<Answers['shared']>;
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
  inputs: DriverInputs,
  completed: (simulated: SimulatedRequest) => void,
  leaveAfterMs: number,
): void {
  if (leaveAfterMs >= 0) leaveAfter(leaveAfterMs, simulated, inputs, completed);
  converse(HTTP_ENGINE, simulated.exchange, new ScriptedDriver(simulated, inputs, completed));
}

/** The client disconnects, unless the exchange is complete by then. */
function leaveAfter(
  leaveAfterMs: number,
  simulated: SimulatedRequest,
  { clock }: DriverInputs,
  completed: (simulated: SimulatedRequest) => void,
): void {
  clock.schedule(clock.nowMs() + leaveAfterMs, () => {
    if (simulated.exchange.stage === 'done') return;
    simulated.response = NO_RESPONSE;
    abandon(simulated.exchange, NOTHING_SENT);
    completed(simulated);
  });
}

/** The driver of one request. */
class ScriptedDriver implements HttpDriver {
  readonly #simulated: SimulatedRequest;
  readonly #inputs: DriverInputs;
  readonly #done: (simulated: SimulatedRequest) => void;
  readonly #bodies: WholeBodies;

  constructor(
    simulated: SimulatedRequest,
    inputs: DriverInputs,
    done: (simulated: SimulatedRequest) => void,
  ) {
    this.#simulated = simulated;
    this.#inputs = inputs;
    this.#done = done;
    this.#bodies = new WholeBodies(simulated.requestBody);
  }

  ask(question: Question, exchange: Exchange): AnswerTo<Question> | undefined {
    const { providers } = this.#inputs;
    switch (question.ask) {
      case 'forward':
        return this.#inTime(this.#forward(question.request), exchange, question.request);
      case 'fetch':
        (this.#simulated.fetched ??= []).push(question.request);
        return this.#inTime(
          providers?.fetch(question.request) ?? fetched(question.request, this.#inputs),
          exchange,
        );
      case 'oidc':
        return this.#inTime(providers?.oidc(question) ?? UNREACHED, exchange);
      case 'signature':
        return providers?.verify(question.request) ?? WITHOUT_NETWORK.signature;
      case 'shared':
        return this.#inTime(this.#shared(question.request), exchange);
      case 'body':
        return this.#bodies.request(question.limitBytes);
      case 'response_body':
        return this.#bodies.response(question.limitBytes);
      case 'reply':
        return this.#reply(question.reply);
    }
  }

  completed(): void {
    this.#done(this.#simulated);
  }

  /** An answer that takes no time is given at once. */
  #inTime(
    { given, afterMs }: Timed<AnswerTo<Question>>,
    exchange: Exchange,
    sent?: UpstreamRequest,
  ): AnswerTo<Question> | undefined {
    if (afterMs <= 0) return given;
    this.#later(given, afterMs, exchange, sent);
    return undefined;
  }

  /** Answers later; a forwarded request is lost with its tunnel. */
  #later(given: AnswerTo<Question>, afterMs: number, exchange: Exchange, sent?: UpstreamRequest): void {
    const { clock, agents } = this.#inputs;
    let isAnswered = false;
    const answerWith = (answer: AnswerTo<Question>): void => {
      unwatch();
      // The client may have disconnected meanwhile.
      if (isAnswered || exchange.stage === 'done') return;
      isAnswered = true;
      resume(HTTP_ENGINE, exchange, answer, this);
    };
    const unwatch =
      sent?.endpoint.tunnel === undefined
        ? NOT_WATCHED
        : agents.watch(sent.endpoint.tunnel, () =>
            answerWith(brokenOff(sent, this.#bodies.forwarded(sent), 'the tunnel was closed')),
          );
    clock.schedule(clock.nowMs() + afterMs, () => answerWith(given));
  }

  #forward(request: UpstreamRequest): Timed<Answers['forward']> {
    const { agents, upstreams } = this.#inputs;
    const { id, tunnel } = request.endpoint;
    const body = this.#bodies.forwarded(request);
    const { seen } = this.#simulated;
    this.#simulated.seen = seen === null ? [{ request, body }] : [...seen, { request, body }];
    if (tunnel !== undefined && !agents.isOnline(tunnel)) return OFFLINE_NOW;
    const own = agents.scriptsOf(tunnel);
    const scripts = own ?? upstreams;
    const name = own === null ? id : tunnel!;
    const scripted = scripts.answerOf(name, request);
    const answering = tunnel === undefined ? scripted : answeringOfAgent(scripted);
    const latencyMs = scripts.latencyOf(answering, name, this.#inputs.clock.nowMs());
    const timed = forwarded(answering, latencyMs, this.#inputs, request, body);
    if ('head' in timed.given) {
      const isCut = answering.fault === 'half';
      this.#bodies.keep(request, timed.given.head, isCut ? halfOf(answering.body) : answering.body, isCut);
    }
    return timed;
  }

  #shared(request: SharedRequest): Timed<Answers['shared']> {
    const { served } = this.#simulated;
    return (served && this.#inputs.shared?.(served, request)) ?? NOT_SHARED;
  }

  #reply(reply: Reply): Sent {
    const { content, sent } = this.#bodies.reply(reply, this.#simulated.exchange.head.method);
    this.#simulated.response = reply.close
      ? { ...NO_RESPONSE, closed: true }
      : { status: reply.status, headers: fieldsOf(reply), body: content.raw, closed: false };
    return sent;
  }
}

/** What arrives of a body that the upstream breaks off. */
function halfOf(body: Uint8Array): Uint8Array {
  return body.subarray(0, body.length >> 1);
}

const UNREACHED: Timed<Answers['oidc']> = { given: WITHOUT_NETWORK.oidc, afterMs: 0 };
const NOT_SHARED: Timed<Answers['shared']> = { given: WITHOUT_NETWORK.shared, afterMs: 0 };
const OFFLINE_NOW: Timed<Answers['forward']> = { given: OFFLINE, afterMs: 0 };
const NOT_WATCHED = (): void => undefined;

/** The upstream's response and its delay, at most the timeout. */
function forwarded(
  answering: Answering,
  latencyMs: number,
  { limits }: DriverInputs,
  request: UpstreamRequest,
  body: Uint8Array,
): Timed<Answers['forward']> {
  if (answering.fault === 'hang' || latencyMs > limits.headMs) {
    const detail = `no response within ${limits.headMs} ms`;
    return { given: { failure: 'timeout', detail }, afterMs: limits.headMs };
  }
  switch (answering.fault) {
    case 'refuse':
      return { given: { failure: 'connect', detail: 'connection refused' }, afterMs: latencyMs };
    case 'reset':
      return { given: brokenOff(request, body, 'connection reset'), afterMs: latencyMs };
    case 'invalid':
      return { given: { failure: 'invalid', detail: 'not HTTP' }, afterMs: latencyMs };
    case 'half':
    case null:
      return {
        // A TCP backend does not influence the head that accepts the WebSocket.
        given: {
          head: request.converts ?? { status: answering.status, headers: answering.headers },
          reused: false,
        },
        afterMs: latencyMs,
      };
  }
}

function fetched(
  request: FetchRequest,
  { upstreams }: DriverInputs,
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
    return { given: { failure: 'too_large', detail: counted(body.length, 'byte') }, afterMs: latencyMs };
  }
  return { given: { status, headers, body, resolvedIp: '', timeMs: latencyMs }, afterMs: latencyMs };
}
