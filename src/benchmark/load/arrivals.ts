/** When requests are due, in ms from the beginning: they do not wait for answers (an open model). */
export type Arrivals = Iterator<number, never>;

/** One every so often. */
export function* constantArrivals(perSecond: number): Generator<number, never> {
  for (let sent = 0; ; sent++) yield (sent * 1_000) / perSecond;
}

/** As independent people come: the time between two is exponential. `random` is uniform in [0, 1). */
export function* poissonArrivals(perSecond: number, random: () => number): Generator<number, never> {
  for (let atMs = 0; ;) {
    atMs += (-Math.log(1 - random()) * 1_000) / perSecond;
    yield atMs;
  }
}
