import type { Exercise } from '../facts.ts';

/** What trips a circuit breaker. */
interface Tripping {
  readonly volume: number;
  readonly trippedMs: number;
  readonly windowMs: number;
  /** Share of failures, 0 to 1. */
  readonly errorThreshold: number;
}

/**
 * Failures that trip a circuit breaker: one request comes while it is open, one just before it probes, another when it
 * does. Then failures that just reach the share and just do not, and some that fill most of the window.
 */
export function tripping({ volume, trippedMs, windowMs, errorThreshold }: Tripping): readonly Exercise[] {
  const least = Math.max(1, volume);
  const failures = { count: least + 1, failing: true };
  const results = Math.max(least, SHARED_RESULTS);
  const succeeding = results - Math.ceil(results * errorThreshold);
  const shared = { failing: true, succeeding, thenMs: 1 };
  return [
    { ...failures, thenMs: 1 },
    { ...failures, thenMs: trippedMs + 1 },
    { ...failures, thenMs: trippedMs - 1 },
    { ...shared, count: results },
    { ...shared, count: results - 1 },
    { count: least, failing: true, everyMs: Math.floor((windowMs * WINDOW_SHARE) / least), thenMs: 1 },
  ];
}

/** Results among which a share of failures can be told from those near it. */
const SHARED_RESULTS = 10;
const WINDOW_SHARE = 0.8;
