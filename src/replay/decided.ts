import type { Edit, RequestHead } from '../engine/contract.ts';
import type { Endpoint, Reply } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Unknown } from './unknowns.ts';

/** The decision of one configuration for one request of a log. */
export interface Decided {
  /** `stopped` by the edge, `forwarded` to a backend, or `closed` without a response. */
  readonly outcome: 'stopped' | 'forwarded' | 'closed';
  /** The decider: a module type, `route` or `engine`. */
  readonly by: string;
  readonly code: string;
  /** JSON pointer of the rule or module that decided; null for the engine. */
  readonly pointer: string | null;
  readonly endpoint: Endpoint | null;
  /** Path and query as sent to the backend. */
  readonly sent: Pick<RequestHead, 'path' | 'query'>;
  /** 0 if there is no response or the upstream's response is not known. */
  readonly status: number;
  readonly exchange: Exchange;
  /** The backends from which this one was chosen at random; null if there was no choice. */
  readonly choice: Choice | null;
  /** The body of the edge's own response, before compression; null for that of an upstream. */
  readonly body: LocalBody | null;
  /** Inputs of the decision that the log does not have; empty if the decision is certain. */
  readonly unknown: readonly Unknown[];
}

/** A body that the edge gives. */
export type LocalBody = Exclude<Reply['body'], 'upstream'>;

/** A random choice. Configurations with the same weights over the same backends choose alike. */
export interface Choice {
  readonly weights: string;
  readonly endpoints: readonly Endpoint[];
}

/**
 * The header edits of a list: the possible difference between two configurations that both let a request
 * through.
 */
export function headerEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.length === 0 ? edits : edits.filter(({ edit }) => edit === 'headers');
}
