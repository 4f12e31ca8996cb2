let lastMs = Number.NaN;
let lastText = '';

/** Milliseconds since the epoch as RFC 3339, UTC. The last one is kept: many events share a millisecond. */
export function timestamp(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}
