/** A scheduled callback. */
type Callback = () => void;

interface Entry {
  readonly atMs: number;
  /** Of callbacks at the same time the one with the lowest rank runs first, then the first scheduled. */
  readonly rank: number;
  readonly order: number;
  readonly callback: Callback;
}

/** Time that only passes on request, and its scheduled callbacks. */
export interface VirtualClock {
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** A time in the past counts as now. Callbacks without a rank come after those with one. */
  readonly schedule: (atMs: number, callback: Callback, rank?: number) => void;
  /** Advances to the next callback and runs it; false if there is none. */
  readonly step: () => boolean;
  /** Runs all callbacks until a time and sets the clock to it; a time in the past changes nothing. */
  readonly advanceTo: (atMs: number) => void;
  readonly pending: () => number;
}

/** A clock starting at `startMs`. Callbacks run in the order of time, then of rank, then of scheduling. */
export function virtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  let count = 0;
  const heap: Entry[] = [];

  const step = (): boolean => {
    const next = taken(heap);
    if (next === undefined) return false;
    if (next.atMs > nowMs) nowMs = next.atMs;
    next.callback();
    return true;
  };
  return {
    nowMs: () => nowMs,
    schedule: (atMs, callback, rank = Number.POSITIVE_INFINITY) =>
      put(heap, { atMs: Math.max(atMs, nowMs), rank, order: count++, callback }),
    step,
    advanceTo: (atMs) => {
      while (heap.length > 0 && heap[0]!.atMs <= atMs) step();
      if (atMs > nowMs) nowMs = atMs;
    },
    pending: () => heap.length,
  };
}

function isBefore(one: Entry, other: Entry): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank;
}

/** A binary heap: each entry is before its two children at twice its index. */
function put(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!isBefore(entry, heap[above]!)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = entry;
}

function taken(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
    if (!isBefore(heap[below]!, last)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = last;
  return first;
}
