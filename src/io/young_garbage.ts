/**
 * Node reads connections that it has accepted into new memory, 64 KiB at a time, which is garbage as soon as it was passed
 * on. V8 collects it together with young objects, of which a transfer makes few; so it accumulates until V8 marks the whole
 * heap, which it soon does every 7 MB. That took more than half of the time of a transfer. Collecting young garbage takes
 * 0.2 ms.
 */
const COLLECT_BYTES = 2 * 2 ** 20;

let garbageBytes = 0;
let collectYoung: () => void = () => undefined;

/** Collects young garbage with this function from now on; without one it is left to V8. */
export function collectGarbageWith(collect: () => void): void {
  collectYoung = collect;
}

/** Counts bytes outside of the heap that are soon garbage. */
export function countGarbage(bytes: number): void {
  garbageBytes += bytes;
  if (garbageBytes < COLLECT_BYTES) return;
  garbageBytes %= COLLECT_BYTES;
  collectYoung();
}
