import type { EndReport } from './end_ledger.ts';
import type { LimitReport } from './limit_ledger.ts';
import type { NodesSetting } from './setting.ts';

/** What several nodes did that one would not have done. Times are in ms since the epoch. */
export interface NodesReport {
  readonly setting: NodesSetting;
  readonly nodes: readonly NodeReport[];
  /** Configurations after the first. */
  readonly revisions: readonly RevisionReport[];
  /** Configurations that were not written, because their node could not reach the store. */
  readonly refusedWrites: readonly { readonly name: string; readonly on: number; readonly atMs: number }[];
  readonly limits: readonly LimitReport[];
  readonly ends: readonly EndReport[];
  /** Ends of sessions beyond those that are reported. */
  readonly unreported: number;
}

/** Which revisions a node served. */
export interface NodeReport {
  readonly node: number;
  readonly requests: number;
  readonly revisions: readonly {
    readonly revision: number;
    readonly requests: number;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
}

export interface RevisionReport {
  readonly revision: number;
  readonly name: string;
  /** The node at which it was written. */
  readonly on: number;
  readonly atMs: number;
  /** When each node had it; null for a node that never had it or skipped it. */
  readonly reachedMs: readonly (number | null)[];
  /** Requests that were served with an older revision while this one was active somewhere. */
  readonly stale: number;
  readonly lastStaleMs: number | null;
}
