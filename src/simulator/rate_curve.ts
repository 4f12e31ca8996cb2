/** From `atMs` on, so many requests arrive per second. */
interface RatePoint {
  readonly atMs: number;
  readonly rate: number;
  /** Whether the rate changes evenly from the point before; otherwise it changes at once. */
  readonly ramp?: boolean | undefined;
}

/** A rate of requests over time. */
export interface RateCurve {
  /** The time at which so many requests have been due since `fromMs`; infinite if they never are. */
  readonly after: (fromMs: number, requests: number) => number;
}

/** A part of the curve; the rate is requests per ms and changes evenly. */
interface Segment {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly rate: number;
  readonly slope: number;
}

/** A rate that is constant, has steps, or has ramps between points, which are in the order of time. Before the first it is 0. */
export function rateCurve(points: readonly RatePoint[]): RateCurve {
  const segments = points.map(({ atMs, rate }, index): Segment => {
    const next = points[index + 1];
    const untilMs = next?.atMs ?? Number.POSITIVE_INFINITY;
    const spanMs = untilMs - atMs;
    const isRamp = next?.ramp === true && spanMs > 0;
    const slope = isRamp ? (next.rate - rate) / 1_000 / spanMs : 0;
    return { fromMs: atMs, untilMs, rate: rate / 1_000, slope };
  });
  return {
    after: (fromMs, requests) => {
      let left = requests;
      for (const segment of segments) {
        if (segment.untilMs <= fromMs) continue;
        const atMs = Math.max(fromMs, segment.fromMs);
        const took = durationOf(left, segment, atMs);
        if (atMs + took < segment.untilMs) return atMs + took;
        left = Math.max(0, left - due(segment, atMs));
      }
      return Number.POSITIVE_INFINITY;
    },
  };
}

/** How long it takes in a segment until so many requests were due; infinite if it would be after its end. */
function durationOf(requests: number, { rate, slope, fromMs }: Segment, atMs: number): number {
  const now = rate + slope * (atMs - fromMs);
  if (slope === 0) return now > 0 ? requests / now : Number.POSITIVE_INFINITY;
  // The root of now·t + slope·t²/2 = requests, in the form that does not cancel.
  const square = now * now + 2 * slope * requests;
  if (square < 0) return Number.POSITIVE_INFINITY;
  const divisor = now + Math.sqrt(square);
  return divisor > 0 ? (2 * requests) / divisor : requests === 0 && slope > 0 ? 0 : Number.POSITIVE_INFINITY;
}

/** Requests that are due from a time to the end of its segment. */
function due({ rate, slope, fromMs, untilMs }: Segment, atMs: number): number {
  const [now, end] = [atMs, untilMs].map((ms) => (slope === 0 ? rate : rate + slope * (ms - fromMs)));
  return ((now! + end!) / 2) * (untilMs - atMs);
}
