import type { DialFailure } from '../io/dial.ts';
import type { WireResponse } from './response_head.ts';

/** The exchange on an upstream connection, as the connection sees it. */
export interface ResponseListener {
  /** The request is HEAD, so the response has no content whatever its head says. */
  readonly isHead: boolean;
  /** The connection is established. */
  connected(): void;
  connectFailed(failure: DialFailure, detail: string): void;
  /** A head has arrived, interim or final. False: the exchange has left the connection. */
  headReceived(head: WireResponse): boolean;
  /** The last byte of the response was read; called before the body taker is notified. */
  ended(keepAlive: boolean): void;
  /** The time for the head is over. True: the delay was not the upstream's, and the exchange continues. */
  overdue(): boolean;
  /**
   * The exchange has failed: the connection has closed, the time is over, or the bytes are not valid HTTP.
   */
  broken(fault: 'reset' | 'timeout' | 'invalid', detail: string): void;
  /** The buffered rest of a write has been passed to the system. */
  flushed(): void;
}
