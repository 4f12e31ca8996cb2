import type { Place } from '../edge/explain.ts';
import type { Outcome } from './outcome.ts';
import type { Observed, Witness } from './witness.ts';

/** What a change does to a class of requests, in the order in which reports list them. */
export const CHANGES = ['OPENED', 'CLOSED', 'REROUTED', 'CHANGED'] as const;
export type Change = (typeof CHANGES)[number];

/** A class of requests that two configurations treat differently, with a request that shows it. */
export interface ChangedRegion {
  readonly change: Change;
  /** What differs for the request that shows it: each a sentence, such as `response header x-a: absent → '1'`. */
  readonly differs: readonly string[];
  /** Hosts and paths, and the conditions that its requests fulfil. */
  readonly where: string;
  readonly conditions: readonly string[];
  readonly size: RegionSize;
  readonly before: Outcome;
  readonly after: Outcome;
  readonly witness: Witness;
  /** What the engine did with the witness. */
  readonly replayed: { readonly before: Observed; readonly after: Observed };
  /** The parts that make the difference; absent if no single one does, or if it was not looked for. */
  readonly blame?: Blame;
}

/** How many requests a region may have: at most, because conditions that are not exact may leave some out. */
export interface RegionSize {
  /** Numbers of client addresses. */
  readonly addresses: { readonly v4: bigint; readonly v6: bigint };
  /** Number of request methods, of those that are forwarded. */
  readonly methods: number;
  /** Number of disjoint classes of requests. */
  readonly classes: number;
}

/** A part that differs between the configurations, and without which the witness is treated as before. */
export interface Blame {
  readonly pointer: string;
  /** The values as JSON; absent where a configuration has no such part. */
  readonly was?: string;
  readonly is?: string;
  readonly before: Place | null;
  readonly after: Place | null;
}

/** Requests about which nothing is known, and why. */
export interface UndecidedRegion {
  readonly where: string;
  readonly conditions: readonly string[];
  /** What blocks the decision, each as a sentence or an expression. */
  readonly reasons: readonly string[];
}

export interface Comparison {
  readonly verdict: 'equivalent' | 'different' | 'undecided';
  readonly changes: readonly ChangedRegion[];
  readonly undecided: readonly UndecidedRegion[];
  /** Numbers of classes of hosts and paths. */
  readonly cells: { readonly all: number; readonly compared: number };
}
