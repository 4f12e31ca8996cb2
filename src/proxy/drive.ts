import { bodyOf, HeldBody } from '../answers/body.ts';
import type { Forwarded, Forwarding, ForwardTaker, ResponseBody, Tunnel } from '../answers/port.ts';
import { letGo, type ReplyParts, sendReply } from '../answers/reply.ts';
import type {
  AnswerTo,
  ForwardFailure,
  Question,
  ResponseHead,
  Sent,
  UpstreamRequest,
} from '../engine/contract.ts';
import { answerFromAfar, BUG, type FarQuestion, type Hands } from './hands.ts';
import type { Exchange, Incoming, Plane } from './port.ts';

/**
 * Drives one request from its head to its last byte: asks the engine what it needs to know and answers with
 * values, until it asks no more; then calls `done`, which may be before this returns. However the exchange ends,
 * nothing of it is left open: the upstream is let go and the client has its reply or sees a cut. Never throws.
 */
export function drive(incoming: Incoming, plane: Plane, hands: Hands, done: () => void): void {
  new Drive(incoming, plane, hands, done).begin();
}

/** One request being driven. The usual questions, forward and reply, need no promise on the way. */
class Drive implements ForwardTaker, ReplyParts {
  readonly #incoming: Incoming;
  readonly #plane: Plane;
  readonly #hands: Hands;
  readonly #done: () => void;
  readonly #exchange: Exchange;
  readonly #body: HeldBody;
  #forwarding: Forwarding | null = null;
  /** Counts forwards. */
  #turn = 0;
  #forwarded: Forwarded | null = null;
  /** The response body, once a handler has looked at it. */
  #response: HeldBody | null = null;
  /** What is to be done about the question under way when the client leaves. */
  #giveUp: (() => void) | null = null;
  #failed = false;

  constructor(incoming: Incoming, plane: Plane, hands: Hands, done: () => void) {
    this.#incoming = incoming;
    this.#plane = plane;
    this.#hands = hands;
    this.#done = done;
    this.#body = new HeldBody(incoming.body);
    this.#exchange = plane.begin(incoming.raw);
  }

  begin(): void {
    let question: Question | null;
    try {
      question = this.#plane.next(this.#exchange);
    } catch (error) {
      question = this.#bug(error);
    }
    this.#ask(question);
  }

  get sink(): Incoming['reply'] {
    return this.#incoming.reply;
  }

  get request(): Incoming['body'] {
    return this.#incoming.body;
  }

  get tunnelIdleMs(): number {
    return this.#hands.tunnelIdleMs;
  }

  /** After a handler has looked at the response body, its beginning is in memory and the rest still to come. */
  get forwarded(): Forwarded | null {
    const forwarded = this.#forwarded;
    const response = this.#response;
    if (forwarded === null || !('body' in forwarded) || response === null) return forwarded;
    const opened = response.open();
    if (opened === null) return forwarded;
    const body: ResponseBody = {
      lengthBytes: opened.lengthBytes,
      flow: (taker) => opened.flow(taker),
      resume: () => opened.resume(),
      cancel: () => forwarded.body.cancel(),
    };
    return { ...forwarded, body };
  }

  interim(head: ResponseHead): void {
    this.sink.interim(head.status, head.headers);
  }

  answered(head: ResponseHead, reused: boolean, body: ResponseBody): void {
    this.#forwarded = { head, reused, body };
    this.#answer({ head, reused });
  }

  switched(head: ResponseHead, reused: boolean, tunnel: Tunnel): void {
    this.#forwarded = { head, reused, tunnel };
    this.#answer({ head, reused });
  }

  failed(failure: ForwardFailure, detail: string): void {
    const { fault } = this.#incoming.body;
    // The client is there and may be told that its body was at fault.
    const isTold = failure === 'cancelled' && fault !== null && fault !== 'left';
    this.#answer({ failure: isTold ? `body_${fault}` : failure, detail });
  }

  #answer(given: AnswerTo<Question>): void {
    this.#giveUp = null;
    let question: Question | null;
    try {
      question = this.#plane.answer(this.#exchange, given);
    } catch (error) {
      question = this.#bug(error);
    }
    this.#ask(question);
  }

  /** What throws in the engine or in a hand is a bug: it is said once, and what fails after that only closes. */
  #bug(error: unknown): Question | null {
    if (this.#failed) return null;
    this.#failed = true;
    return this.#plane.fail(this.#exchange, error);
  }

  #ask(question: Question | null): void {
    this.sink.onGone = this.#onGone;
    if (question === null) {
      this.#finish();
      return;
    }
    try {
      this.#askHand(question);
    } catch (error) {
      this.#ask(this.#bug(error));
    }
  }

  #askHand(question: Question): void {
    switch (question.ask) {
      case 'forward':
        this.#forward(question.request);
        break;
      case 'reply':
        sendReply(question.reply, this, this.#onSent);
        break;
      case 'body':
        this.#body.hold(question.limitBytes, (held) => {
          if ('bytes' in held) this.#answer(held);
          else {
            const { failure } = held;
            const isSaid = failure === 'too_large' || failure === 'timeout';
            this.#answer({ failure: isSaid ? failure : 'cancelled' });
          }
        });
        break;
      case 'response_body':
        this.#holdResponse(question.limitBytes);
        break;
      case 'fetch':
      case 'oidc':
      case 'signature':
        this.#askSlowly(question);
    }
  }

  #forward(asked: UpstreamRequest): void {
    const { upgradable, body: sent, reply } = this.#incoming;
    letGo(this.#forwarded);
    this.#forwarded = null;
    this.#response = null;
    const streams = asked.body === null;
    const body = asked.body === null ? this.#body.open() : bodyOf(asked.body);
    if (body === null) {
      this.#answer({ failure: 'invalid', detail: 'the request body has been sent and is not held' });
      return;
    }
    if (reply.gone) {
      this.#answer(LEFT);
      return;
    }
    // Whether the connection can change its protocol is known to the listener, not to the engine.
    const request = asked.upgrade === null || upgradable ? asked : { ...asked, upgrade: null };
    const expectsContinue = streams && sent.awaitsContinue && this.#body.isUntouched;
    const options =
      expectsContinue || reply.takesTrailers
        ? { expectsContinue, takesTrailers: reply.takesTrailers }
        : USUAL;
    this.#giveUp = this.#cancelForward;
    const turn = ++this.#turn;
    const forwarding = this.#hands.upstream.forward(request, body, options, this);
    // It may be over by now, and another one under way.
    if (turn === this.#turn) this.#forwarding = forwarding;
  }

  #holdResponse(limitBytes: number): void {
    const forwarded = this.#forwarded;
    if (forwarded === null || !('body' in forwarded)) {
      this.#answer({ failure: 'reset' });
      return;
    }
    this.#response ??= new HeldBody(forwarded.body);
    this.#giveUp = () => {
      forwarded.body.cancel();
      this.#answer({ failure: 'reset' });
    };
    let isOver = false;
    this.#response.hold(limitBytes, (held) => {
      if (isOver) return;
      isOver = true;
      if ('bytes' in held) this.#answer(held);
      else {
        const { failure } = held;
        this.#answer({ failure: failure === 'too_large' || failure === 'timeout' ? failure : 'reset' });
      }
    });
  }

  /** Questions whose answer is far away; what came first, the answer or the client's leaving, counts. */
  #askSlowly(question: FarQuestion): void {
    const gone = new AbortController();
    this.#giveUp = () => gone.abort();
    if (this.sink.gone) gone.abort();
    answerFromAfar(question, this.#hands, gone.signal).then(
      (answer) => this.#answer(answer),
      (error: unknown) => this.#ask(this.#bug(error)),
    );
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

  #finish(): void {
    const { reply } = this.#incoming;
    letGo(this.#forwarded);
    if (this.#failed && reply.headSent) reply.destroy();
    if (!reply.headSent && this.#failed) this.#sendBug();
    else {
      if (!reply.headSent) reply.destroy();
      this.#end();
    }
  }

  /** For a bug in the way of the engine's own page. */
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

const USUAL = { expectsContinue: false, takesTrailers: false } as const;
const LEFT = { failure: 'cancelled', detail: 'the client left' } as const;
