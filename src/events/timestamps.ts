/** Cache of formatted times, indexed by time: many events share a millisecond. */
const PLACES = 1_024;
const times = new Float64Array(PLACES).fill(Number.NaN);
const texts: string[] = Array.from({ length: PLACES }, () => '');

let lastMs = Number.NaN;
let lastText = '';

/** Milliseconds since the epoch as RFC 3339 in UTC. */
export function timestamp(ms: number): string {
  if (ms !== lastMs) {
    lastText = textOf(ms);
    lastMs = ms;
  }
  return lastText;
}

function textOf(ms: number): string {
  const place = ms % PLACES;
  if (times[place] === ms) return texts[place]!;
  const text = new Date(ms).toISOString();
  // Fractional times and times before the epoch are not cached.
  if (place >= 0 && Number.isInteger(place)) {
    times[place] = ms;
    texts[place] = text;
  }
  return text;
}

/** Milliseconds as RFC 3339, whole seconds. */
export function wholeSeconds(ms: number): string {
  return `${timestamp(ms).slice(0, 19)}Z`;
}
