import type { Measurement } from './meter.ts';
import type { PartCost } from './profile.ts';
import type { Comparison } from './statistics.ts';
import type { Suggestion } from './suggest.ts';

/** Version of the result file format; results of other versions cannot be compared with this one. */
export const RESULT_VERSION = 1;

/** One row of a report. */
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

/** The result of one benchmark run; plain data, as it is stored for later comparison. */
export interface BenchResult {
  readonly version: typeof RESULT_VERSION;
  readonly file: string;
  /** The machine of the run. */
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
  /** Number of parts that requests reach but that were not measured because of the limit. */
  readonly partsLeftOut: number;
  readonly suggestions: readonly Suggestion[];
  /** Name of the baseline, if any. */
  readonly against: string | null;
  readonly compared: readonly ComparedRow[];
}
