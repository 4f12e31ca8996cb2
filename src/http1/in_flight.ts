import type { Reply } from '../engine/contract.ts';
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

/** One request that is under way. */
export interface InFlight {
  readonly body: Http1Body;
  readonly sink: Http1Sink;
  readonly head: WireRequest;
  /** It may change the protocol of the connection. */
  readonly upgradable: boolean;
  /** The driver is done with it; only the rest of its body may be left. */
  isAnswered: boolean;
}

/** Why a head is refused, by the codec or by the clock. */
export type Refusal = Pick<Problem, 'status' | 'detail'> & { readonly code: RefusalCode };

/** What was begun leaves its event, whether or not its client is there to read the page. */
export const LEFT_IN_HEAD = problem('malformed', 'the client left in the middle of its request head');
export const LATE: Refusal = {
  code: 'head_timeout',
  status: 408,
  detail: 'the request head did not arrive in time',
};

/** A request as the driver is given it. */
export function rawRequest(head: WireRequest, connection: ConnectionFacts, startMs: number): RawRequest {
  const { method, target, version, headers } = head;
  const scheme = connection.tls === null ? 'http' : 'https';
  return { head: { method, target, version, scheme, headers }, connection, startMs };
}

/** Tells of a head that is none and gives the reply to it; of one that came too late nothing is certain. */
export function refused(
  exchanges: ExchangePort,
  why: Refusal,
  partial: PartialRequest,
  connection: ConnectionFacts,
): Reply {
  const { code, status, detail } = why;
  const scheme = connection.tls === null ? 'http' : 'https';
  const head = code === 'head_timeout' ? {} : { ...partial, scheme };
  return exchanges.refuse({ code, status, detail, connection, head });
}
