import type { AnswerTo, Question } from '../engine/questions.ts';
import type { KeptBytes } from './exchange_notes.ts';
import type { ExchangeObserver, TunnelObserver } from './recording_sink.ts';

/** The part of the engine's interface that a recording uses. */
interface Conversation {
  next(exchange: object): Question | null;
  answer(exchange: object, given: AnswerTo<Question>): Question | null;
}

/** Observes the questions and answers of an exchange without changing them. */
export function recordingTap<P extends Conversation>(port: P, sink: Omit<ExchangeObserver, 'bodiesOf'>): P {
  const heard = (exchange: object, question: Question | null): Question | null => {
    sink.asked(exchange, question);
    return question;
  };
  const { began } = sink;
  return {
    ...port,
    next: (exchange: object) => {
      began?.(exchange);
      return heard(exchange, port.next(exchange));
    },
    answer: (exchange: object, given: AnswerTo<Question>) => {
      sink.answered(exchange, given);
      return heard(exchange, port.answer(exchange, given));
    },
  };
}

interface Taker {
  take(bytes: Uint8Array): void;
  rest(): boolean;
  end(trailers: readonly string[]): boolean;
  fail(fault: string, detail: string): void;
}

interface FlowingBody {
  readonly lengthBytes: number | null;
  flow(taker: Taker): void;
  resume(): void;
  cancel?(): void;
}

interface ForwardTaker {
  interim(head: unknown): void;
  answered(head: unknown, reused: boolean, body: FlowingBody): void;
  switched(head: unknown, reused: boolean, tunnel: { readonly observe?: TunnelObserver }): void;
  failed(failure: unknown, detail: string, isRepeatable?: boolean): void;
}

interface Client {
  forward(
    request: { readonly headers: readonly string[] },
    body: FlowingBody,
    options: unknown,
    taker: ForwardTaker,
  ): unknown;
  close(): Promise<void>;
}

/** Copies the bodies to and from upstreams into the recording while they stream. */
export function copyBodies<C extends { readonly close: () => Promise<void> }>(
  client: C,
  sink: Pick<ExchangeObserver, 'bodiesOf'>,
): C {
  const open = client as unknown as Client;
  const copying: Client = {
    close: () => open.close(),
    forward: (request, body, options, taker) => {
      const kept = sink.bodiesOf(request.headers);
      if (kept === null) return open.forward(request, body, options, taker);
      return open.forward(request, copied(body, kept.request), options, {
        interim: (head) => taker.interim(head),
        answered: (head, reused, content) => taker.answered(head, reused, copied(content, kept.response)),
        switched: (head, reused, tunnel) => {
          const { tunnel: observe } = kept;
          taker.switched(head, reused, observe === undefined ? tunnel : { ...tunnel, observe });
        },
        failed: (...failure) => taker.failed(...failure),
      });
    },
  };
  return copying as unknown as C;
}

const copied = (body: FlowingBody, kept: KeptBytes): FlowingBody =>
  body.lengthBytes === 0 ? body : new CopiedBody(body, kept);

/**
 * A body whose bytes are kept while they pass. It releases both sides at its end: what is left of it in the old
 * generation would keep later exchanges of its connections from being collected while they are young.
 */
class CopiedBody implements FlowingBody, Taker {
  readonly lengthBytes: number | null;
  #body: FlowingBody | null;
  #taker: Taker | null = null;
  #kept: KeptBytes | null;

  constructor(body: FlowingBody, kept: KeptBytes) {
    this.lengthBytes = body.lengthBytes;
    this.#body = body;
    this.#kept = kept;
  }

  flow(taker: Taker): void {
    this.#taker = taker;
    this.#body?.flow(this);
  }

  resume(): void {
    this.#body?.resume();
  }

  cancel(): void {
    this.#body?.cancel?.();
  }

  take(bytes: Uint8Array): void {
    this.#kept?.add(bytes);
    this.#taker?.take(bytes);
  }

  rest(): boolean {
    return this.#taker?.rest() ?? true;
  }

  end(trailers: readonly string[]): boolean {
    return this.#over()?.end(trailers) ?? false;
  }

  fail(fault: string, detail: string): void {
    this.#over()?.fail(fault, detail);
  }

  #over(): Taker | null {
    const taker = this.#taker;
    this.#body = null;
    this.#taker = null;
    this.#kept = null;
    return taker;
  }
}
