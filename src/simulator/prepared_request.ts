import type { Connection, RequestHead } from '../engine/contract.ts';
import type { RefusedHead } from '../engine/request_head.ts';

/** A request with its head read and its connection made. */
export interface PreparedRequest {
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  readonly body: Uint8Array;
  /** Virtual ms after which the client leaves; -1 when it stays. */
  readonly leaveAfterMs: number;
  /** Identity whose browser sends it: with cookies, and through logins. Nobody's when left out. */
  readonly as?: string;
  /** The same request signed anew, for one that a provider of webhooks signs: its signature is of the time it is sent. */
  readonly signedAt?: (nowMs: number) => PreparedRequest;
}
