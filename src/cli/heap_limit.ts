import { collectGarbageWith } from '../io/young_garbage.ts';
import { nodeV8, setFlag } from './v8_flags.ts';

/** V8 doubles the young generation up to 32 MB, and shrinks it when it collects garbage while little is allocated. */
const ENOUGH_BYTES = 4.5 * 2 ** 20;
/** Loading `PerformanceObserver` takes a millisecond, and the first request should not wait for it. */
const STARTED_MS = 50;
const YOUNG = {
  grows: { set: '--semi-space-growth-factor=2', original: '--semi-space-growth-factor=2' },
  stays: { set: '--semi-space-growth-factor=1', original: '--semi-space-growth-factor=2' },
} as const;
/** V8's options for young garbage: neither its collection nor the release of its buffers is given to other threads. */
const ONE_THREAD = ['--no-parallel-scavenge', '--no-concurrent-array-buffer-sweeping'] as const;

/**
 * A full collection is due at twice the heap that the last one left. V8 itself chooses less for a small heap, and then
 * begins the next one at once, because it counts with a young generation of the usual size.
 */
const GROWTH = { set: '--heap-growing-percent=100', original: '--heap-growing-percent=0' } as const;

/**
 * Keeps the young generation at 8 MB for the whole process: the objects of a request are garbage at its end, and with
 * 10,000 idle connections the process takes 60 to 100 MB less. V8 accepts a limit only as an option at
 * its start, so growth is allowed or stopped after each collection, as V8 also shrinks it. A larger heap does not make the proxy faster. What
 * was read from connections is collected when there is enough of it (`io/young_garbage.ts`), by the thread that makes it.
 * A small young generation holds so little that helper threads cost more than they save, and memory they free lands in
 * other threads' allocator pools.
 */
export function limitHeap(): void {
  const { setFlagsFromString } = nodeV8();
  for (const option of ONE_THREAD) setFlagsFromString(option);
  setFlag(GROWTH);
  // Compiling the configuration blocks the event loop, so that nothing could stop the growth.
  setFlag(YOUNG.stays);
  setTimeout(regrowYoung, STARTED_MS).unref();
  let collect: Collect | null = null;
  collectGarbageWith(() => {
    collect ??= collector();
    collect({ type: 'minor' });
  });
}

/** Lets the young generation grow whenever a collection has left it too small. */
function regrowYoung(): void {
  const { getHeapSpaceStatistics } = nodeV8();
  const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks');
  new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    setFlag(young !== undefined && young.space_size < ENOUGH_BYTES ? YOUNG.grows : YOUNG.stays);
  }).observe({ entryTypes: ['gc'] });
}

/**
 * V8 lets a heap grow to four times the live data before a full collection. Work with much garbage and much live data then
 * takes twice the memory, and saves only a few percent of its time. The young generation keeps the size that it has after
 * loading the program, 8 to 16 MB: V8 adds its size to that limit, too.
 */
export function growHeapSlowly(): void {
  setFlag({ set: '--heap-growing-percent=30', original: '--heap-growing-percent=0' });
  setFlag(YOUNG.stays);
}

type Collect = (options: { readonly type: 'minor' }) => void;

/** The collector of V8, which only a context that is made with this option has. */
function collector(): Collect {
  const { setFlagsFromString } = nodeV8();
  setFlagsFromString('--expose-gc');
  const collect = process.getBuiltinModule('node:vm').runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
