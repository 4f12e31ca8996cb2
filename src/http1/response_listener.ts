import type { WireResponse } from './response_head.ts';

/** The request that is on a connection, as the connection sees it. */
export interface ResponseListener {
  /** Whether the response has no content whatever its head says: it answers HEAD. */
  readonly isHead: boolean;
  /** The connection is there, or why it is not. */
  connected(): void;
  undialled(detail: string): void;
  /** A head, interim or final. False: the connection is not the exchange's any more. */
  headed(head: WireResponse): boolean;
  /** Behind the last byte of the response, before its taker hears of it. */
  ended(keepAlive: boolean): void;
  /** Time is over before there was a head. True: it was not the upstream's time, and the exchange goes on. */
  overdue(): boolean;
  /** Nothing more will come: the connection has ended, time is over, or what came is no HTTP. */
  broken(fault: 'reset' | 'timeout' | 'invalid', detail: string): void;
  /** What was left over by a write is with the system. */
  flushed(): void;
}
