/**
 * Node reads connections that it has accepted into new memory, 64 KiB at a time, which is garbage once it has been
 * passed on. V8 collects it together with young objects, of which a transfer makes few; so it accumulates until V8 marks
 * the whole heap, which it soon does every 7 MB. That took more than half of the time of a transfer. Collecting young
 * garbage takes 0.2 ms.
 */
const COLLECT_BYTES = 2 * 2 ** 20;

let readBytes = 0;
let collectYoung: () => void = () => undefined;

/** Collects young garbage with this function from now on; without one it is left to V8. */
export function collectReadsWith(collect: () => void): void {
  collectYoung = collect;
}

/** Counts bytes of a read that is part of a transfer. */
export function countRead(bytes: number): void {
  readBytes += bytes;
  if (readBytes < COLLECT_BYTES) return;
  readBytes %= COLLECT_BYTES;
  collectYoung();
}
