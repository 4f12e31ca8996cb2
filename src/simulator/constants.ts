import type { AnswerTo, Answers, Question } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import { answer, start } from '../engine/run.ts';

/** What an upstream is taken to answer when nothing is asked of the world. */
export const OK_UPSTREAM: Answers['forward'] = { head: { status: 200, headers: [] }, reused: false };

const NO_BYTES = new Uint8Array(0);
/** What is told of a reply whose bytes nobody has counted. */
export const NOTHING_MEASURED: Answers['reply'] = {
  requestBytes: 0,
  responseBytes: 0,
  rawResponseBytes: 0,
  cut: 'none',
};

/** Runs one exchange to its end without I/O: bodies are empty and every upstream gives the same answer. */
export function decideWithConstants(exchange: Exchange, upstream: Answers['forward']): Exchange {
  let question = start(exchange);
  while (question !== null) question = answer(exchange, constantAnswer(question, upstream));
  return exchange;
}

/** The answer to any question, without a world. */
export function constantAnswer(question: Question, upstream: Answers['forward']): AnswerTo<Question> {
  switch (question.ask) {
    case 'body':
      return { bytes: NO_BYTES };
    case 'forward':
      // A backend of TCP has no say in what accepts the WebSocket.
      return question.request.converts !== undefined && 'head' in upstream
        ? { ...upstream, head: question.request.converts }
        : upstream;
    case 'response_body':
      return { bytes: NO_BYTES };
    case 'fetch':
      return { failure: 'connect', detail: 'nothing is fetched without a driver' };
    case 'oidc':
      return { failure: 'unreachable', detail: 'no provider is asked without a driver' };
    case 'signature':
      return { failure: 'unavailable', detail: 'nothing is verified without a driver' };
    case 'reply':
      return NOTHING_MEASURED;
  }
}
