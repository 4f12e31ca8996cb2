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
  end(trailers: readonly string[]): void;
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

function copied(body: FlowingBody, kept: KeptBytes): FlowingBody {
  return {
    get lengthBytes() {
      return body.lengthBytes;
    },
    flow: (taker) =>
      body.flow({
        take: (bytes) => {
          kept.add(bytes);
          taker.take(bytes);
        },
        rest: () => taker.rest(),
        end: (trailers) => taker.end(trailers),
        fail: (fault, detail) => taker.fail(fault, detail),
      }),
    resume: () => body.resume(),
    cancel: () => body.cancel?.(),
  };
}
