import type { Answers, Connection, RequestHead } from '../engine/contract.ts';
import type { RefusedHead } from '../engine/request_head.ts';

/** A request that is measured, with what its upstream answers. */
export interface BenchRequest {
  /** How a person would know it again: the case that it is from, or its first line. */
  readonly label: string;
  readonly head: RequestHead | RefusedHead;
  readonly connection: Connection;
  readonly upstream: Answers['forward'];
}

/** What decisions are measured on, and where it is from. */
export interface Corpus {
  readonly requests: readonly BenchRequest[];
  readonly from: string;
}
