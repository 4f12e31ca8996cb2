import type { Answers, Connection, RequestHead } from '../engine/contract.ts';
import type { RefusedHead } from '../engine/request_head.ts';

/** A measured request and its upstream's response. */
export interface BenchRequest {
  /** The name of the case that it comes from, or its first line. */
  readonly label: string;
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  readonly upstream: Answers['forward'];
}

/** The requests that are measured, and their source. */
export interface Corpus {
  readonly requests: readonly BenchRequest[];
  readonly from: string;
}
