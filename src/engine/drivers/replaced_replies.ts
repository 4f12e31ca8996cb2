import { lastingKind } from '../../http/lasting_response.ts';
import type { Question, Reply } from '../questions.ts';
import { Exchange } from '../exchange.ts';
import { replaceReply } from '../respond.ts';
import type { ExchangePort } from './exchange_port.ts';

/** The port with replies replaced before the driver gets them, if at all; events and recordings see what is sent. */
export function withReplies(
  port: ExchangePort,
  replyOf: ((exchange: Exchange, reply: Reply) => Reply) | null,
): ExchangePort {
  if (replyOf === null) return port;
  const replaced = (exchange: object, question: Question | null): Question | null => {
    if (question?.ask !== 'reply' || !(exchange instanceof Exchange)) return question;
    const reply = replyOf(exchange, question.reply);
    return reply === question.reply ? question : replaceReply(exchange, reply);
  };
  return {
    ...port,
    next: (exchange) => replaced(exchange, port.next(exchange)),
    answer: (exchange, given) => replaced(exchange, port.answer(exchange, given)),
    fail: (exchange, error) => replaced(exchange, port.fail(exchange, error)),
  };
}

/** The port with a call, if any, for every reply of an upstream that lasts, such as a WebSocket, before the driver gets it. */
export function withOpened(port: ExchangePort, opened: ((exchange: Exchange) => void) | null): ExchangePort {
  if (opened === null) return port;
  const told = (exchange: object, question: Question | null): Question | null => {
    if (question?.ask !== 'reply' || !(exchange instanceof Exchange)) return question;
    const { reply } = question;
    if (reply.body === 'upstream' && !reply.close && lastingKind(reply) !== null) opened(exchange);
    return question;
  };
  return {
    ...port,
    next: (exchange) => told(exchange, port.next(exchange)),
    answer: (exchange, given) => told(exchange, port.answer(exchange, given)),
  };
}
