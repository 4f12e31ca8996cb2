/** Texts kept, each in the place of its time: many events share a millisecond, and connections their beginning. */
const PLACES = 1_024;
const times = new Float64Array(PLACES).fill(Number.NaN);
const texts: string[] = Array.from({ length: PLACES }, () => '');

/** Milliseconds since the epoch as RFC 3339, UTC. */
export function timestamp(ms: number): string {
  const place = ms % PLACES;
  if (times[place] === ms) return texts[place]!;
  const text = new Date(ms).toISOString();
  // Of a time that is no whole number, or before the epoch, nothing is kept.
  if (place >= 0 && Number.isInteger(place)) {
    times[place] = ms;
    texts[place] = text;
  }
  return text;
}
