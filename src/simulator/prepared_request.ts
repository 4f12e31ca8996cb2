import type { RequestHead } from '../engine/contract.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import type { StatedConnection } from '../engine/request_like.ts';

/** A request with its parsed head and its connection. */
export interface PreparedRequest {
  readonly head: RequestHead | RefusedHead;
  readonly connection: StatedConnection;
  readonly body: Uint8Array;
  /** Virtual ms after which the client disconnects; -1 for never. */
  readonly leaveAfterMs: number;
  /** Identity whose browser sends it, with cookies and through logins; absent for none. */
  readonly as?: string;
  /** Number of the node that receives it; absent for one that the spread of the nodes picks. */
  readonly node?: number;
  /** The same request with a new webhook signature, which covers the time of sending. */
  readonly signedAt?: (nowMs: number) => PreparedRequest;
}
