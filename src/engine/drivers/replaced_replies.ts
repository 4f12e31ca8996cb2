import type { Question, Reply } from '../questions.ts';
import { Exchange } from '../exchange.ts';
import { replaceReply } from '../respond.ts';
import type { ExchangePort } from './exchange_port.ts';

/** The port with replies replaced before the driver gets them; events and recordings see what is sent. */
export function withReplies(
  port: ExchangePort,
  replyOf: (exchange: Exchange, reply: Reply) => Reply,
): ExchangePort {
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
