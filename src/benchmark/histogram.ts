import { createHistogram } from 'node:perf_hooks';

/** Percentiles of many latencies in little memory: an HDR histogram with three significant figures. */
export interface Latencies {
  /** Records one latency in ns; values below 1 count as 1. */
  readonly record: (ns: number) => void;
  readonly count: () => number;
  /**
   * The latency in ns that `share` (0 to 1) of all values do not exceed, accurate to 0.1 %; 0 if there are no
   * values.
   */
  readonly at: (share: number) => number;
  readonly summary: () => LatencySummary;
}

/** In ns. */
export interface LatencySummary {
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

const SIGNIFICANT_FIGURES = 3;
const HIGHEST_NS = 3_600e9;

export function latencies(): Latencies {
  const histogram = createHistogram({ lowest: 1, highest: HIGHEST_NS, figures: SIGNIFICANT_FIGURES });
  // The nearest rank, as in a sorted list: the histogram alone would round it down below a half.
  const at = (share: number): number => {
    const { count } = histogram;
    if (count === 0) return 0;
    return histogram.percentile((Math.max(1, Math.ceil(share * count)) / count) * 100);
  };
  return {
    record: (ns) => histogram.record(Math.min(HIGHEST_NS, Math.max(1, Math.round(ns)))),
    count: () => histogram.count,
    at,
    summary: () => ({
      min: histogram.count === 0 ? 0 : histogram.min,
      p50: at(0.5),
      p90: at(0.9),
      p99: at(0.99),
      p999: at(0.999),
      max: histogram.max,
    }),
  };
}
