import { ask } from '../engine/contract.ts';
import type { Answers, AnswerTo, Ask, FetchRequest, Question } from '../engine/contract.ts';

/**
 * A conversation with the world on the way to a value: it yields questions and is given answers. Only requests that
 * must ask (a login, a refresh, a logout) pay for one; a request with a good session never does.
 */
export type Conversation<T> = Generator<Question, T, AnswerTo<Question>>;

/** Asks one question in a flow: `const answer = yield* asked({ ask: 'fetch', … })`. */
export function* asked<Q extends Question>(
  question: Q,
): Generator<Question, AnswerTo<Q>, AnswerTo<Question>> {
  return (yield question) as AnswerTo<Q>;
}

/** A control request with the usual limits; whatever is given wins. */
export function fetching(
  request: Pick<FetchRequest, 'url'> & Partial<FetchRequest>,
): Generator<Question, Answers['fetch'], AnswerTo<Question>> {
  const usual = {
    method: 'GET',
    headers: ['accept', 'application/json'],
    body: null,
    timeoutMs: FETCH_TIMEOUT_MS,
    limitBytes: FETCH_LIMIT_BYTES,
    maxRedirects: 0,
    // Providers stand in the configuration: their addresses are nobody else's choice.
    allowPrivate: true,
  } as const;
  return asked<FetchQuestion>({ ask: 'fetch', request: { ...usual, ...request } });
}

type FetchQuestion = Extract<Question, { ask: 'fetch' }>;

const FETCH_TIMEOUT_MS = 10_000;
const FETCH_LIMIT_BYTES = 512 * 1_024;

/** Concludes from a value, or from that of a flow: its questions become a chain of `ask`. */
export function concluded<T extends object, Result>(
  given: T | Conversation<T>,
  conclude: (value: T) => Result,
): Result | Ask<Result> {
  if (!isConversation(given)) return conclude(given);
  const go = (step: IteratorResult<Question, T>): Result | Ask<Result> =>
    step.done === true ? conclude(step.value) : ask(step.value, (answer) => go(given.next(answer)));
  return go(given.next());
}

/** Narrows an answer that may have come without a conversation. */
export function isConversation<T extends object>(answer: T | Conversation<T>): answer is Conversation<T> {
  return Symbol.iterator in answer;
}
