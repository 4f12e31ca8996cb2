import type { RequestBody, ReplySink } from '../../io/ports.ts';
import type { AnswerTo, Question, Reply, TlsFacts } from '../contract.ts';
import type { RawHead } from '../request_head.ts';
import type { ProblemCode } from '../../http/message_problem.ts';

/**
 * The port between listeners and the driver. A listener turns a connection's bytes into `Incoming`s and refusals
 * and knows nothing of decisions; the driver knows nothing of sockets. The other port, for upstreams, is
 * `UpstreamClient` in `io/ports.ts`.
 */

export type { BodyFault, BodyTaker, ReplyFraming, ReplySink, RequestBody } from '../../io/ports.ts';
export type { RawHead } from '../request_head.ts';

/** What a listener knows of a connection. Addresses are text as the system gave them (IPv4-mapped IPv6 included). */
export interface ConnectionFacts {
  readonly clientAddress: string;
  readonly clientPort: number;
  readonly serverAddress: string;
  readonly serverPort: number;
  /** From SNI; empty without TLS. */
  readonly serverName: string;
  /** When the connection was accepted, ms since the epoch. */
  readonly startMs: number;
  readonly tls: TlsFacts | null;
}

/** A request whose head has been read and whose body has not. */
export interface RawRequest {
  readonly head: RawHead;
  readonly connection: ConnectionFacts;
  /** When the head was complete, ms since the epoch. */
  readonly startMs: number;
}

/** One request as a listener hands it to the driver. */
export interface Incoming {
  readonly raw: RawRequest;
  readonly body: RequestBody;
  readonly reply: ReplySink;
  /** Whether this connection can change its protocol now: it was asked to, and nothing else is under way on it. */
  readonly upgradable: boolean;
}

/** Why a listener refuses a request on its own, before anything can be decided about it. */
export type RefusalCode = ProblemCode | 'head_timeout';

/** A head that could not be parsed, exceeded a limit or whose framing is not to be trusted. */
export interface Refused {
  readonly status: number;
  readonly code: RefusalCode;
  readonly detail: string;
  readonly connection: ConnectionFacts;
  /** As much of the head as is known for certain. */
  readonly head: Partial<RawHead>;
}

/** One request on its way through the engine; the driver only passes it on. */
export type Exchange = object;

/** The engine as the driver sees it: made by the composition root on the current snapshot. */
export interface ExchangePort {
  /** The injected clock, ms since the epoch: the time of everything that an event or a reply tells. */
  readonly nowMs: () => number;
  /** Begins an exchange on the current snapshot. Never throws. */
  begin(raw: RawRequest): Exchange;
  /** The first question; null when there is none. */
  next(exchange: Exchange): Question | null;
  /** The next question, or null: the exchange is complete and its event is made. */
  answer(exchange: Exchange, answer: AnswerTo<Question>): Question | null;
  /** Makes the event of a request that never became an exchange and gives the reply to send. */
  refuse(refused: Refused): Reply;
  /** The driver failed, which is a bug: the exchange ends closed, with the reply that is asked for, if any. */
  fail(exchange: Exchange, error: unknown): Question | null;
}
