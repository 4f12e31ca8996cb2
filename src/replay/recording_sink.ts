import { weakMemoize } from '../caches/weak_memoize.ts';
import type { AnswerTo, Question } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { HttpRequestComplete } from '../events/catalogue.ts';
import { ExchangeNotes, type ForwardNotes, type KeptBytes } from './exchange_notes.ts';
import type { RecordedExchange } from './recording.ts';

/** Observes the questions and answers between the engine and its driver, and the bodies of forwards. */
export interface ExchangeObserver {
  /** Before the first question. */
  readonly began?: (exchange: object) => void;
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
    /** Receives what passes after a switch of protocols; absent if it is not observed. */
    readonly tunnel?: TunnelObserver;
  } | null;
}

/** Called with the bytes of a tunnel as they pass; they are lent until it returns. */
export type TunnelObserver = (way: 'toUpstream' | 'toClient', bytes: Uint8Array) => void;

/** Makes a record of each exchange. */
export interface RecordingSink extends ExchangeObserver {
  /** The exchange is complete; `agentUrl` is that of the endpoint of an agent that it reached, if it did. */
  readonly finished: (exchange: Exchange, event: HttpRequestComplete, agentUrl: string | null) => void;
}

/** A sink that passes each record to `write`. At most `bodyLimit` bytes of each body are kept. */
export function recordingSink(write: (exchange: RecordedExchange) => void, bodyLimit: number): RecordingSink {
  const notesOf = weakMemoize((_exchange: object) => new ExchangeNotes(bodyLimit));
  const forwards = new WeakMap<readonly string[], ForwardNotes>();
  return {
    asked: (exchange, question) => {
      if (question === null) return;
      const forward = notesOf(exchange).asked(question);
      if (forward !== null) forwards.set(forward.request.headers, forward);
    },
    answered: (exchange, given) => notesOf(exchange).answered(given),
    bodiesOf: (headers) => {
      const found = forwards.get(headers);
      return found === undefined ? null : { request: found.requestBody, response: found.responseBody };
    },
    finished: (exchange, event, agentUrl) =>
      write({
        ...notesOf(exchange).record(exchange),
        ...(agentUrl !== null && { agent_endpoint: agentUrl }),
        event,
      }),
  };
}
