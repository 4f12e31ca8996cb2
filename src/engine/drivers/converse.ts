import type { AnswerTo, Question } from '../contract.ts';
import type { Exchange } from '../exchange.ts';
import { answer, fail, start } from '../run.ts';
import {
  type StreamAnswer,
  type StreamExchange,
  type StreamQuestion,
  answerStream,
  failStream,
  startStream,
} from '../stream.ts';

/** The half of a conversation that decides: its next question for an answer, or null at the end. */
export interface Engine<X, Q, A> {
  answer(exchange: X, given: A): Q | null;
  /** The driver failed, which is a bug; the question is the reply that reports it, if one can still be sent. */
  fail(exchange: X, error: unknown): Q | null;
}

/** The half of a conversation that knows the world. Drivers differ in this only. */
export interface Driver<X, Q, A> {
  /** The answer, or undefined if it comes later: then the driver passes it to `resume`. */
  ask(question: Q, exchange: X): A | undefined;
  /** Called at the end of the exchange; absent if the caller of a driver that never waits does the rest. */
  completed?(exchange: X): void;
}

/**
 * Asks and answers until the exchange is complete or an answer is to come later. Uses no promise, so that an exchange
 * whose answers are there runs to its end at once.
 */
export function converse<X, Q, A>(
  engine: Engine<X, Q, A>,
  exchange: X,
  first: Q | null,
  driver: Driver<X, Q, A>,
): void {
  let question = first;
  while (question !== null) {
    try {
      const given = driver.ask(question, exchange);
      if (given === undefined) return;
      question = engine.answer(exchange, given);
    } catch (error) {
      question = engine.fail(exchange, error);
    }
  }
  driver.completed?.(exchange);
}

/** Continues a conversation with an answer that came later. */
export function resume<X, Q, A>(
  engine: Engine<X, Q, A>,
  exchange: X,
  given: A,
  driver: Driver<X, Q, A>,
): void {
  let question: Q | null;
  try {
    question = engine.answer(exchange, given);
  } catch (error) {
    question = engine.fail(exchange, error);
  }
  converse(engine, exchange, question, driver);
}

/** Continues a conversation with the answer of a promise; a rejection is a bug of the driver. */
export async function resumeWith<X, Q, A>(
  engine: Engine<X, Q, A>,
  exchange: X,
  promised: PromiseLike<A>,
  driver: Driver<X, Q, A>,
): Promise<void> {
  let given: A;
  try {
    given = await promised;
  } catch (error) {
    converse(engine, exchange, engine.fail(exchange, error), driver);
    return;
  }
  resume(engine, exchange, given, driver);
}

/** Answers the questions of HTTP exchanges. */
export type HttpDriver = Driver<Exchange, Question, AnswerTo<Question>>;
/** Answers the questions of connections of TLS and TCP edges. */
export type StreamDriver = Driver<StreamExchange, StreamQuestion, StreamAnswer>;

export const HTTP_ENGINE: Engine<Exchange, Question, AnswerTo<Question>> = { answer, fail };
export const STREAM_ENGINE: Engine<StreamExchange, StreamQuestion, StreamAnswer> = {
  answer: answerStream,
  fail: failStream,
};

/** Runs an HTTP exchange; it is complete on return if the driver answers at once. */
export function driveExchange(exchange: Exchange, driver: HttpDriver): void {
  converse(HTTP_ENGINE, exchange, start(exchange), driver);
}

/** Runs a connection of a TLS or TCP edge; it is over on return if the driver answers at once. */
export function driveConnection(exchange: StreamExchange, driver: StreamDriver): void {
  converse(STREAM_ENGINE, exchange, startStream(exchange), driver);
}
