import type { RequestBody, ReplySink } from '../../io/ports.ts';
import type { TlsFacts } from '../contract.ts';
import type { AnswerTo, Question, Reply } from '../questions.ts';
import type { RawHead } from '../request_head.ts';
import type { RefusalCode } from '../refusals.ts';

/**
 * The port between listeners and the driver. A listener turns a connection's bytes into `Incoming`s and refusals
 * without any decision; the driver has no access to sockets. The other port, for upstreams, is `UpstreamClient` in
 * `io/ports.ts`.
 */

export type { BodyFault, BodyTaker, ReplyFraming, ReplySink, RequestBody } from '../../io/ports.ts';
export type { RawHead } from '../request_head.ts';

/**
 * What a listener knows about a connection. Addresses are text as the system gave them (including IPv4-mapped IPv6).
 */
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

/** A request with a complete head and an unread body. */
export interface RawRequest {
  readonly head: RawHead;
  readonly connection: ConnectionFacts;
}

/** A request, as a listener passes it to the driver. */
export interface Incoming {
  readonly raw: RawRequest;
  readonly body: RequestBody;
  readonly reply: ReplySink;
  /** Whether this connection can switch protocols: the request asks for it, and nothing else is in flight. */
  readonly upgradable: boolean;
}

/** A head that could not be parsed, exceeded a limit or has ambiguous framing. */
export interface Refused {
  readonly code: RefusalCode;
  readonly detail: string;
  readonly connection: ConnectionFacts;
  /** The parts of the head that are known for certain. */
  readonly head: Partial<RawHead>;
}

/** A request on its way through the engine; opaque to the driver. */
export type Exchange = object;

/** The engine as the driver sees it, made by the composition root for the current snapshot. */
export interface ExchangePort {
  /** The injected clock, ms since the epoch, used for all times in events and responses. */
  readonly nowMs: () => number;
  /** Begins an exchange on the current snapshot. Never throws. */
  begin(raw: RawRequest): Exchange;
  /** The first question; null when there is none. */
  next(exchange: Exchange): Question | null;
  /** The next question, or null: the exchange is complete and its event is made. */
  answer(exchange: Exchange, answer: AnswerTo<Question>): Question | null;
  /** Makes the event of a request that never became an exchange, and returns the response to send. */
  refuse(refused: Refused): Reply;
  /** Handles a failure of the driver, which is a bug: the exchange is closed after the returned reply, if any. */
  fail(exchange: Exchange, error: unknown): Question | null;
}
