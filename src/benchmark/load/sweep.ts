import type { LoadResult } from './run.ts';

interface SweepStep {
  readonly rate: number;
  readonly result: LoadResult;
  /** Whether the server sustained the rate. */
  readonly held: boolean;
}

export interface Sweep {
  readonly steps: readonly SweepStep[];
  /** The highest sustained rate in requests per second; 0 if there was none. */
  readonly knee: number;
}

export interface SweepOptions {
  readonly from: number;
  readonly to: number;
  /** Latency limit at the 99th percentile, in ns; above it the rate counts as not sustained. */
  readonly limitNs: number;
}

/** A rate is sustained if throughput keeps up with it, without failures and within the latency limit. */
const SUSTAINED_SHARE = 0.95;
/** The knee is found to within 10 %. */
const FINE = 1.1;

/** Finds the highest sustained rate: doubles the rate until it is not sustained, then bisects. */
export async function sweep(
  runAt: (rate: number) => Promise<LoadResult>,
  { from, to, limitNs }: SweepOptions,
): Promise<Sweep> {
  const steps: SweepStep[] = [];
  const isHeld = async (rate: number): Promise<boolean> => {
    const result = await runAt(rate);
    const hasFailures = result.unanswered > 0 || Object.keys(result.failures).length > 0;
    const held = !hasFailures && result.perSecond >= rate * SUSTAINED_SHARE && result.latency.p99 <= limitNs;
    steps.push({ rate, result, held });
    return held;
  };
  let held = 0;
  let missed = 0;
  for (let rate = from; missed === 0 && rate <= to; rate = Math.round(rate * 2)) {
    if (await isHeld(rate)) held = rate;
    else missed = rate;
  }
  while (held > 0 && missed / held > FINE) {
    const rate = Math.round(Math.sqrt(held * missed));
    if (rate === held || rate === missed) break;
    if (await isHeld(rate)) held = rate;
    else missed = rate;
  }
  return { steps: steps.toSorted((one, other) => one.rate - other.rate), knee: held };
}
