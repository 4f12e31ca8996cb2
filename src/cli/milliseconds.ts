/** A duration for a log line, in whole milliseconds: the clock of an edge has no finer unit. */
export function inMilliseconds(tookMs: number): string {
  return tookMs < 1 ? '<1 ms' : `${Math.round(tookMs)} ms`;
}
