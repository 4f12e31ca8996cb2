/** Due times of requests, in ms from the start. They do not depend on responses (an open model). */
export type Arrivals = Iterator<number, never>;

/** Requests at a constant rate. */
export function* constantArrivals(perSecond: number): Generator<number, never> {
  for (let sent = 0; ; sent++) yield (sent * 1_000) / perSecond;
}

/** A Poisson process: the time between requests is exponentially distributed. `random` is uniform in [0, 1). */
export function* poissonArrivals(perSecond: number, random: () => number): Generator<number, never> {
  for (let atMs = 0; ;) {
    atMs += (-Math.log(1 - random()) * 1_000) / perSecond;
    yield atMs;
  }
}
