import type { FetchRequest } from '../engine/contract.ts';
import type { UpstreamRequest } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { FieldList } from '../http/fields.ts';
import type { Served } from './nodes/cluster.ts';

/** The request that one upstream received. */
export interface Seen {
  readonly request: UpstreamRequest;
  /** The body that it received. */
  readonly body: Uint8Array;
}

/** The response that the client got. */
export interface ClientResponse {
  /** 0 if there was none: the client disconnected, or the edge closed the connection. */
  readonly status: number;
  readonly headers: FieldList;
  /** Before compression; truncated if the upstream broke it off. */
  readonly body: Uint8Array;
  readonly closed: boolean;
}

/** One simulated request, and all outside observations of it. */
export interface SimulatedRequest {
  /** Position among all requests, from 0. */
  readonly index: number;
  readonly exchange: Exchange;
  /** The request body. */
  readonly requestBody: Uint8Array;
  readonly sentMs: number;
  /** When its event was made; NaN before. */
  endMs: number;
  /** Null until an upstream was reached: most requests need no list. */
  seen: readonly Seen[] | null;
  fetched: FetchRequest[] | null;
  response: ClientResponse;
  /** The node that serves it; null in a world with one. */
  readonly served: Served | null;
  readonly done: ((simulated: SimulatedRequest) => void) | null;
}

const NO_BYTES = new Uint8Array(0);
export const NO_RESPONSE: ClientResponse = { status: 0, headers: [], body: NO_BYTES, closed: false };
