import { endsAtHead } from '../../http/bodyless.ts';
import { reportFault } from '../../io/containment.ts';
import { bodyOf, BufferedBody } from '../../io/buffered_body.ts';
import type { Forwarded, Forwarding, ForwardTaker, ResponseBody, Tunnel } from '../../io/ports.ts';
import type { ResponseHead } from '../contract.ts';
import type { SharedRequest } from '../shared_question.ts';
import type { AnswerTo, ForwardFailure, Question, Sent, UpstreamRequest } from '../questions.ts';
import { answerFromNetwork, BUG, type Clients, type NetworkQuestion } from './clients.ts';
import { converse, type Driver, type Engine, resume, resumeWith } from './converse.ts';
import type { Exchange, ExchangePort, Incoming } from './exchange_port.ts';
import { NO_BYTES } from './reply_content.ts';
import { forwardFailure, forwardOptions, heldRequest, heldResponse, reopened } from './streamed_bodies.ts';
import { WITHOUT_NETWORK } from './whole_bodies.ts';
import { releaseForward, type ReplyParts, sendReply } from './send_reply.ts';

type Answer = AnswerTo<Question>;

/**
 * Drives a request from its head to its last byte: asks the engine for questions and answers them with values until
 * there are no more, then calls `done`, possibly before this returns. However the exchange ends, everything is
 * released: the upstream is free, and the client has its response or sees a closed connection. Never throws.
 */
export function drive(incoming: Incoming, exchanges: ExchangePort, clients: Clients, done: () => void): void {
  new LiveDriver(incoming, exchanges, clients, done).begin();
}

/** The driver of a request and its view of the engine; a second failure ends the exchange. */
class LiveDriver
  implements Driver<Exchange, Question, Answer>, Engine<Exchange, Question, Answer>, ForwardTaker, ReplyParts
{
  readonly #incoming: Incoming;
  readonly #exchanges: ExchangePort;
  readonly #clients: Clients;
  readonly #done: () => void;
  readonly #exchange: Exchange;
  readonly #body: BufferedBody;
  #forwarding: Forwarding | null = null;
  #forwardCount = 0;
  #forwarded: Forwarded | null = null;
  /** The response body, once a handler has read it. */
  #response: BufferedBody | null = null;
  /** Cancels the question in flight when the client leaves. */
  #giveUp: (() => void) | null = null;
  #failed = false;
  /** Bytes of fields in interim responses. */
  #interimBytes = 0;

  constructor(incoming: Incoming, exchanges: ExchangePort, clients: Clients, done: () => void) {
    this.#incoming = incoming;
    this.#exchanges = exchanges;
    this.#clients = clients;
    this.#done = done;
    this.#body = new BufferedBody(incoming.body);
    this.#exchange = exchanges.begin(incoming.raw);
  }

  begin(): void {
    converse(this, this.#exchange, this);
  }

  start(exchange: Exchange): Question | null {
    return this.#exchanges.next(exchange);
  }

  answer(exchange: Exchange, given: Answer): Question | null {
    return this.#exchanges.answer(exchange, given);
  }

  /** An error of the engine or of a client is a bug: the first one is reported, after a second one nothing is sent. */
  fail(exchange: Exchange, error: unknown): Question | null {
    if (this.#failed) return null;
    this.#failed = true;
    return this.#exchanges.fail(exchange, error);
  }

  get sink(): Incoming['reply'] {
    return this.#incoming.reply;
  }

  get request(): Incoming['body'] {
    return this.#incoming.body;
  }

  get stop(): AbortSignal | undefined {
    return this.#clients.stop;
  }

  get tunnelIdleMs(): number {
    return this.#clients.tunnelIdleMs;
  }

  get forwarded(): Forwarded | null {
    return reopened(this.#forwarded, this.#response);
  }

  interim(head: ResponseHead): void {
    // They are queued for a client that does not read, without backpressure on the upstream.
    for (const text of head.headers) this.#interimBytes += text.length;
    if (this.#interimBytes <= INTERIM_BYTES) this.sink.interim(head.status, head.headers);
  }

  answered(head: ResponseHead, reused: boolean, body: ResponseBody): void {
    this.#forwarded = { head, reused, body };
    this.#answer({ head, reused });
  }

  switched(head: ResponseHead, reused: boolean, tunnel: Tunnel): void {
    this.#forwarded = { head, reused, tunnel };
    this.#answer({ head, reused });
  }

  failed(failure: ForwardFailure, detail: string, isRepeatable = false): void {
    const told = forwardFailure(failure, this.request.fault);
    this.#answer({ failure: told, detail, ...(isRepeatable && { isRepeatable }) });
  }

  #answer(given: Answer): void {
    this.#giveUp = null;
    resume(this, this.#exchange, given, this);
  }

  /** All answers arrive through callbacks, perhaps before this returns. */
  ask(question: Question): undefined {
    this.sink.onGone = this.#onGone;
    switch (question.ask) {
      case 'forward':
        this.#forward(question.request);
        break;
      case 'reply':
        sendReply(question.reply, this, this.#onSent);
        break;
      case 'body':
        this.#body.hold(question.limitBytes, (held) => this.#answer(heldRequest(held)));
        break;
      case 'response_body':
        this.#holdResponse(question.limitBytes);
        break;
      case 'fetch':
      case 'oidc':
      case 'signature':
        this.#askNetwork(question);
        break;
      case 'shared':
        this.#askShared(question.request);
    }
  }

  #forward(asked: UpstreamRequest): void {
    const { upgradable, body: sent, reply } = this.#incoming;
    releaseForward(this.#forwarded);
    this.#forwarded = null;
    this.#response = null;
    const streams = asked.body === null;
    const body = asked.body === null ? this.#body.open() : bodyOf(asked.body);
    if (body === null) {
      this.#answer({ failure: 'invalid', detail: 'the request body was sent and is no longer buffered' });
      return;
    }
    if (reply.gone) {
      this.#answer(LEFT);
      return;
    }
    // The listener, not the engine, knows whether the connection can switch protocols.
    const request = asked.upgrade === null || upgradable ? asked : { ...asked, upgrade: null };
    const expectsContinue = streams && sent.awaitsContinue && this.#body.isUntouched;
    const options = forwardOptions(expectsContinue, reply.takesTrailers);
    this.#giveUp = this.#cancelForward;
    const count = ++this.#forwardCount;
    const forwarding = this.#clients.upstream.forward(request, body, options, this);
    // It may be over by now, and another one in flight.
    if (count === this.#forwardCount) this.#forwarding = forwarding;
  }

  #holdResponse(limitBytes: number): void {
    const forwarded = this.#forwarded;
    if (forwarded === null || !('body' in forwarded)) {
      this.#answer({ failure: 'reset' });
      return;
    }
    if (endsAtHead(this.sink.method === 'HEAD', forwarded.head.status)) {
      this.#answer({ bytes: NO_BYTES });
      return;
    }
    this.#response ??= new BufferedBody(forwarded.body);
    this.#giveUp = () => {
      forwarded.body.cancel();
      this.#answer({ failure: 'reset' });
    };
    let isOver = false;
    this.#response.hold(limitBytes, (held) => {
      if (isOver) return;
      isOver = true;
      this.#answer(heldResponse(held));
    });
  }

  /** Waits for the answer or for the client to leave, whichever comes first. */
  #askNetwork(question: NetworkQuestion): void {
    const gone = new AbortController();
    this.#giveUp = () => gone.abort();
    if (this.sink.gone) gone.abort();
    const answer = answerFromNetwork(question, this.#clients, gone.signal);
    resumeWith(this, this.#exchange, answer, this).catch(reportFault);
  }

  /** The answer comes soon in any case: a client that leaves does not end the question. */
  #askShared(request: SharedRequest): void {
    this.#giveUp = null;
    const answer = this.#clients.shared?.(request) ?? WITHOUT_NETWORK.shared;
    if (answer instanceof Promise) resumeWith(this, this.#exchange, answer, this).catch(reportFault);
    else this.#answer(answer);
  }

  readonly #onSent = (sent: Sent): void => this.#answer(sent);

  readonly #onGone = (): void => {
    const giveUp = this.#giveUp;
    this.#giveUp = null;
    giveUp?.();
  };

  readonly #cancelForward = (): void => {
    this.#forwarding?.cancel();
    this.#answer(LEFT);
  };

  completed(): void {
    const { reply } = this.#incoming;
    releaseForward(this.#forwarded);
    if (this.#failed && reply.headSent) reply.destroy();
    if (!reply.headSent && this.#failed) this.#sendBug();
    else {
      if (!reply.headSent) reply.destroy();
      this.#end();
    }
  }

  /** When a bug prevents the engine's own page. */
  #sendBug(): void {
    const { sink, request, tunnelIdleMs } = this;
    try {
      sendReply(BUG, { sink, request, tunnelIdleMs, forwarded: null }, () => this.#end());
    } catch {
      sink.destroy();
      this.#end();
    }
  }

  #end(): void {
    this.sink.onGone = null;
    this.#done();
  }
}

const LEFT = { failure: 'cancelled', detail: 'the client left' } as const;

/** Interim responses to one request beyond this many bytes of fields are dropped, as RFC 9110 §15.2 lets a proxy do. */
const INTERIM_BYTES = 65_536;
