import type { Measurement } from './meter.ts';
import type { PartCost } from './profile.ts';
import type { Comparison } from './statistics.ts';
import type { Suggestion } from './suggest.ts';

/** The form of a result file; another number cannot be compared with this one. */
export const RESULT_VERSION = 1;

/** One line of a report: what was measured, by name. */
export interface ResultRow extends Measurement {
  readonly name: string;
}

/** A part of the configuration with its place in the file, such as `edge.yaml:12`. */
export interface LocatedCost extends PartCost {
  readonly place: string | null;
}

export interface ComparedRow {
  readonly name: string;
  readonly comparison: Comparison;
}

/** All that one run of the benchmark found; plain data, as it is kept for later comparison. */
export interface BenchResult {
  readonly version: typeof RESULT_VERSION;
  readonly file: string;
  /** What it ran on. */
  readonly machine: {
    readonly node: string;
    readonly cpu: string;
    readonly cores: number;
    readonly os: string;
  };
  readonly corpus: { readonly count: number; readonly from: string };
  readonly seed: number | string;
  readonly rows: readonly ResultRow[];
  readonly parts: readonly LocatedCost[];
  /** Parts that requests reach and that were not measured, there being too many. */
  readonly partsLeftOut: number;
  readonly suggestions: readonly Suggestion[];
  /** What the second is compared with, where there is one. */
  readonly against: string | null;
  readonly compared: readonly ComparedRow[];
}
