import type { LoadResult } from './run.ts';

/** One step of a sweep. */
export interface SweepStep {
  readonly rate: number;
  readonly result: LoadResult;
  /** Whether the server kept up. */
  readonly held: boolean;
}

export interface Sweep {
  readonly steps: readonly SweepStep[];
  /** The highest rate that was held, in requests a second; 0 when none was. */
  readonly knee: number;
}

export interface SweepOptions {
  readonly from: number;
  readonly to: number;
  /** The latency at the 99th percentile, in ns, above which the server does not keep up. */
  readonly limitNs: number;
}

/** The server keeps up when it answers as fast as is asked, without failures, and soon enough. */
const KEPT_UP = 0.95;
/** The knee is told to a tenth. */
const FINE = 1.1;

/** Looks for the highest rate that is held: doubles it until it is not, then halves the distance. */
export async function sweep(
  runAt: (rate: number) => Promise<LoadResult>,
  { from, to, limitNs }: SweepOptions,
): Promise<Sweep> {
  const steps: SweepStep[] = [];
  const isHeld = async (rate: number): Promise<boolean> => {
    const result = await runAt(rate);
    const hasFailures = result.unanswered > 0 || Object.keys(result.failures).length > 0;
    const held = !hasFailures && result.perSecond >= rate * KEPT_UP && result.latency.p99 <= limitNs;
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
