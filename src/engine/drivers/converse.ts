import type { AnswerTo, Question } from '../questions.ts';
import type { Exchange } from '../exchange.ts';
import { answer, fail, start } from '../run.ts';
import { type StreamAnswer, type StreamQuestion, answerStream, failStream, startStream } from '../stream.ts';
import type { StreamExchange } from '../stream_exchange.ts';

/** The half of a conversation that decides: its next question, or null at the end. */
export interface Engine<X, Q, A> {
  start(exchange: X): Q | null;
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

/** Decides about HTTP requests. */
export const HTTP_ENGINE: Engine<Exchange, Question, AnswerTo<Question>> = { start, answer, fail };
/** Decides about connections of TLS and TCP edges. */
export const STREAM_ENGINE: Engine<StreamExchange, StreamQuestion, StreamAnswer> = {
  start: startStream,
  answer: answerStream,
  fail: failStream,
};

/** Answers the questions of HTTP requests. */
export type HttpDriver = Driver<Exchange, Question, AnswerTo<Question>>;

/**
 * Asks and answers until the exchange is complete or an answer is to come later. Uses no promise, so that an exchange
 * whose answers are there runs to its end at once: it is complete on return if the driver never waits.
 */
export function converse<X, Q, A>(engine: Engine<X, Q, A>, exchange: X, driver: Driver<X, Q, A>): void {
  let first: Q | null;
  try {
    first = engine.start(exchange);
  } catch (error) {
    first = engine.fail(exchange, error);
  }
  askUntilWait(engine, exchange, first, driver);
}

/** Continues a conversation with an answer that came later. */
export function resume<X, Q, A>(
  engine: Engine<X, Q, A>,
  exchange: X,
  given: A,
  driver: Driver<X, Q, A>,
): void {
  let next: Q | null;
  try {
    next = engine.answer(exchange, given);
  } catch (error) {
    next = engine.fail(exchange, error);
  }
  askUntilWait(engine, exchange, next, driver);
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
    askUntilWait(engine, exchange, engine.fail(exchange, error), driver);
    return;
  }
  resume(engine, exchange, given, driver);
}

/** Runs an exchange whose answers are all promises. */
export function converseLater<X, Q, A>(
  engine: Engine<X, Q, A>,
  exchange: X,
  answerTo: (question: Q) => PromiseLike<A>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const driver: Driver<X, Q, A> = {
      ask: (question) => {
        resumeWith(engine, exchange, answerTo(question), driver).catch(reject);
        return undefined;
      },
      completed: () => resolve(),
    };
    converse(engine, exchange, driver);
  });
}

function askUntilWait<X, Q, A>(
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
