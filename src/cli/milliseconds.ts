/** A span as a log tells it: the clock of an edge counts whole milliseconds. */
export function inMilliseconds(tookMs: number): string {
  return tookMs < 1 ? '<1 ms' : `${Math.round(tookMs)} ms`;
}
