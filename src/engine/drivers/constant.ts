import type { AnswerTo, Answers, Question } from '../questions.ts';
import type { Exchange } from '../exchange.ts';
import { HTTP_ENGINE, converse } from './converse.ts';
import { NO_BYTES } from './reply_content.ts';
import { WITHOUT_NETWORK } from './whole_bodies.ts';

/** The assumed response of an upstream when no driver is involved. */
export const OK_UPSTREAM: Answers['forward'] = { head: { status: 200, headers: [] }, reused: false };

/** Measurements of a reply whose bytes are not counted. */
export const NOTHING_MEASURED: Answers['reply'] = {
  requestBytes: 0,
  responseBytes: 0,
  rawResponseBytes: 0,
  cut: 'none',
};

/**
 * Runs one exchange without I/O: bodies are empty and every upstream gives the same response. Each question is passed
 * to `seen`.
 */
export function decideWithConstants(
  exchange: Exchange,
  upstream: Answers['forward'],
  seen?: (question: Question) => void,
): Exchange {
  converse(HTTP_ENGINE, exchange, {
    ask: (question) => {
      seen?.(question);
      return constantAnswer(question, upstream);
    },
  });
  return exchange;
}

function constantAnswer(question: Question, upstream: Answers['forward']): AnswerTo<Question> {
  switch (question.ask) {
    case 'forward':
      // A TCP backend does not influence the head that accepts the WebSocket.
      return question.converts !== null && 'head' in upstream
        ? { ...upstream, head: question.converts }
        : upstream;
    case 'body':
    case 'response_body':
      return { bytes: NO_BYTES };
    case 'reply':
      return NOTHING_MEASURED;
    case 'fetch':
    case 'oidc':
    case 'signature':
    case 'shared':
      return WITHOUT_NETWORK[question.ask];
  }
}
