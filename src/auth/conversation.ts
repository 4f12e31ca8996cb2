import { type FetchRequest, type World, ask, type Ask } from '../engine/contract.ts';
import type { Answers, AnswerTo, Question } from '../engine/questions.ts';
import { isFormTooLong } from '../http/message_limits.ts';
import { FORM_LIMIT_BYTES } from './limits.ts';

/**
 * A generator that yields questions to the driver and receives their answers. Only requests that start a
 * login, a refresh or a logout need one; a request with a valid session does not.
 */
export type Conversation<T> = Generator<Question, T, AnswerTo<Question>>;

/** Asks one question: `const answer = yield* asked({ ask: 'fetch', … })`. */
export function* asked<Q extends Question>(
  question: Q,
): Generator<Question, AnswerTo<Q>, AnswerTo<Question>> {
  return (yield question) as AnswerTo<Q>;
}

/** A control request with default limits; the given fields override them. */
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
    // The operator configures providers, so their addresses may be private.
    allowPrivate: true,
  } as const;
  return asked<FetchQuestion>({ ask: 'fetch', request: { ...usual, ...request } });
}

type FetchQuestion = Extract<Question, { ask: 'fetch' }>;

const FETCH_TIMEOUT_MS = 10_000;
/** For all requests of one login or check: the delays of a slow provider must not add up. Long lists have many pages. */
const LOGIN_TIMEOUT_MS = 30_000;

/** Returns how long the next request of a login that begins now may take, in milliseconds; 0 if its time is over. */
export function loginDeadline({ nowMs }: Pick<World, 'nowMs'>): () => number {
  const endMs = nowMs() + LOGIN_TIMEOUT_MS;
  return () => Math.max(0, Math.min(FETCH_TIMEOUT_MS, endMs - nowMs()));
}
const FETCH_LIMIT_BYTES = 512 * 1_024;

/** Applies `conclude` to a value or to the result of a conversation, whose questions become a chain of `ask`. */
export function concluded<T extends object, Result>(
  given: T | Conversation<T>,
  conclude: (value: T) => Result,
): Result | Ask<Result> {
  if (!isConversation(given)) return conclude(given);
  const go = (step: IteratorResult<Question, T>): Result | Ask<Result> =>
    step.done === true ? conclude(step.value) : ask(step.value, (answer) => go(given.next(answer)));
  return go(given.next());
}

/** Distinguishes a conversation from an immediate result. */
export function isConversation<T extends object>(answer: T | Conversation<T>): answer is Conversation<T> {
  return Symbol.iterator in answer;
}

/** Asks for the body of the request as a form; null if it is incomplete or has too many fields. */
export function* postedForm(limitBytes = FORM_LIMIT_BYTES): Conversation<URLSearchParams | null> {
  const answer = yield* asked({ ask: 'body', limitBytes });
  return 'bytes' in answer ? readForm(answer.bytes) : null;
}

/** The fields of a form body; null if there are too many. Anyone can post a form, so this must cost little. */
export function readForm(bytes: Uint8Array): URLSearchParams | null {
  return isFormTooLong(bytes) ? null : new URLSearchParams(new TextDecoder().decode(bytes));
}

/** Resolves a value that may be a conversation. */
export function* awaited<T extends object>(answer: T | Conversation<T>): Conversation<T> {
  return isConversation(answer) ? yield* answer : answer;
}
