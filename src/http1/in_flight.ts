import type { Reply } from '../engine/questions.ts';
import { type Problem, problem } from '../http/message_problem.ts';
import type { PartialRequest, WireRequest } from './request_head.ts';
import type { Http1Body } from './server_body.ts';
import type { Http1Sink } from './server_sink.ts';
import type {
  ConnectionFacts,
  ExchangePort,
  RawRequest,
  RefusalCode,
} from '../engine/drivers/exchange_port.ts';

/** A request in flight. */
export interface InFlight {
  readonly body: Http1Body;
  readonly sink: Http1Sink;
  readonly head: WireRequest;
  /** It may upgrade the connection. */
  readonly upgradable: boolean;
  /** The driver is done with it; at most the rest of its body is unread. */
  isAnswered: boolean;
}

/** Why a head is refused, by the codec or by a timeout. */
export type Refusal = Problem<RefusalCode>;

/** An unfinished request still gets an event, even if its client has disconnected. */
export const LEFT_IN_HEAD = problem('malformed', 'the client left in the middle of its request head');
export const LATE: Refusal = { code: 'head_timeout', detail: 'the request head did not arrive in time' };

/** The request as it is passed to the driver. */
export function rawRequest(head: WireRequest, connection: ConnectionFacts, startMs: number): RawRequest {
  const { method, target, version, headers } = head;
  const scheme = connection.tls === null ? 'http' : 'https';
  return { head: { method, target, version, scheme, headers }, connection, startMs };
}

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
