import type { Reply } from '../engine/questions.ts';
import { type Problem, problem } from '../http/message_problem.ts';
import type { PartialRequest } from './request_head.ts';
import { fieldLines, statusLine } from './write.ts';
import { dateLine } from './server_sink.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';
import type { RefusalCode } from '../engine/refusals.ts';
import { contentOf } from '../engine/drivers/reply_content.ts';

/** Why a head is refused, by the codec or by a timeout. */
export type Refusal = Problem<RefusalCode>;

/** An unfinished request still gets an event, even if its client has disconnected. */
export const LEFT_IN_HEAD = problem('malformed', 'the client left in the middle of its request head');
export const LATE: Refusal = { code: 'head_timeout', detail: 'the request head did not arrive in time' };

/**
 * Makes the event of a refused head and returns the response to it. After a timeout, no part of the head is
 * reliable.
 */
export function refused(
  exchanges: ExchangePort,
  why: Refusal,
  partial: PartialRequest,
  connection: ConnectionFacts,
): Reply {
  const { code, detail } = why;
  const scheme = connection.tls === null ? 'http' : 'https';
  const head = code === 'head_timeout' ? {} : { ...partial, scheme };
  return exchanges.refuse({ code, detail, connection, head });
}

/** The response to an invalid head, as text in Latin-1; the connection closes after it. `method` is empty if it is unknown. */
export function refusalText(reply: Reply, nowMs: number, method = ''): string {
  const body = contentOf(reply);
  const fields = fieldLines(reply.headers) ?? '';
  const framing = `\r\ncontent-length: ${body.length}\r\nconnection: close`;
  const head = statusLine(reply.status) + fields + framing + dateLine(nowMs);
  return method === 'HEAD' ? head : head + body.toString('latin1');
}
