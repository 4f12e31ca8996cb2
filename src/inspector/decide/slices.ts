const SLICE_MS = 4;

/** Does something for each, with pauses, because the edge serves in the same thread. */
export async function inSlices<T>(all: readonly T[], each: (one: T) => void): Promise<void> {
  let untilMs = performance.now() + SLICE_MS;
  for (const one of all) {
    each(one);
    if (performance.now() < untilMs) continue;
    await new Promise((resolve) => void setImmediate(resolve));
    untilMs = performance.now() + SLICE_MS;
  }
}
