/**
 * A sliding window per key. The window is divided into ten slots; an admitted request is counted in the slot of its
 * arrival, and the current slot plus the ten before it are summed up. So at most `capacity` requests are admitted in
 * any span of `windowMs`, and each counts for at most 1.1 × `windowMs`. Rejected requests do not count, so a client
 * that keeps trying is not locked out forever. Services of this kind do not document how finely their windows slide;
 * with slots the limit is never exceeded.
 *
 * Memory is 52 bytes plus the key itself, for at most `keyLimit` keys. Keys without requests for a whole window are
 * dropped together. Beyond the limit, all new keys share one window of the same capacity, so that a flood of invented
 * keys neither exhausts memory nor evicts the counts of others. A key that gets a window of its own starts with what the
 * shared one has counted, because some of that may be its own.
 */
export interface RateLimitSettings {
  /** Maximum number of admitted requests in any `windowMs`; 1 to 4,294,967,295. */
  readonly capacity: number;
  /** A multiple of 10. */
  readonly windowMs: number;
  /** Maximum number of keys. */
  readonly keyLimit: number;
}

/** The state of a limiter; only `take` changes it. */
export interface RateLimiter {
  readonly settings: RateLimitSettings;
  readonly slotMs: number;
  /** Monotonic time, and the clock value at its last update; if the clock steps back, no time passes. */
  elapsedMs: number;
  lastMs: number;
  rotatedSlot: number;
  /** Keys seen since the last rotation, and keys seen before it but not since. */
  recent: Windows;
  former: Windows;
  /** The shared window of all keys beyond the limit. */
  readonly overflow: Windows;
  hasOverflowed: boolean;
}

/** Windows of keys: place p has the ring `counts[p × 11 …]`, last updated in slot `slots[p]`. */
interface Windows {
  readonly places: Map<string, number>;
  counts: Uint32Array;
  slots: Float64Array;
  used: number;
}

export const SLOTS = 10;
/** The current slot and the ten before it. */
const RING = SLOTS + 1;
const FIRST_ROOM = 16;

/** Default maximum number of keys per limiter. */
export const KEY_LIMIT = 1_000_000;

/** The window of a limit in words, for traces. How long a request counts depends on its time within its slot. */
export function windowText(windowMs: number): string {
  return `${windowMs / 1_000}s in ${SLOTS} slots of ${windowMs / 1_000 / SLOTS}s`;
}

/** A limiter without counts. */
export function newRateLimiter(settings: RateLimitSettings): RateLimiter {
  const overflow = noWindows();
  place(overflow, '', 0);
  return {
    settings,
    slotMs: settings.windowMs / SLOTS,
    elapsedMs: 0,
    lastMs: Number.NaN,
    rotatedSlot: 0,
    recent: noWindows(),
    former: noWindows(),
    overflow,
    hasOverflowed: false,
  };
}

/** Number of stored keys. */
export function keysHeld(limiter: RateLimiter): number {
  return limiter.recent.places.size + limiter.former.places.size;
}

/**
 * Admits and counts a request of `key`: 0. Or rejects it and returns the milliseconds until one would be
 * admitted if no other request came: above 0.
 */
export function take(limiter: RateLimiter, key: string, nowMs: number): number {
  const time = advance(limiter, nowMs);
  const slot = Math.floor(time / limiter.slotMs);
  if (slot - limiter.rotatedSlot >= RING) rotate(limiter, slot);
  const known = limiter.recent.places.get(key);
  if (known !== undefined) return takeAt(limiter, limiter.recent, known, slot, time);
  const [windows, at] = windowOf(limiter, key, slot);
  return takeAt(limiter, windows, at, slot, time);
}

function takeAt(limiter: RateLimiter, windows: Windows, at: number, slot: number, time: number): number {
  const { capacity } = limiter.settings;
  forgetOld(windows, at, slot);
  const { counts } = windows;
  const first = at * RING;
  let counted = 0;
  for (let index = first; index < first + RING; index++) counted += counts[index]!;
  if (counted < capacity) {
    counts[first + (slot % RING)]! += 1;
    return 0;
  }
  // The oldest slots expire first; a request is admitted once enough of them have expired.
  let leaving = slot - SLOTS;
  for (; ; leaving++) {
    counted -= counts[first + ((leaving + RING) % RING)]!;
    if (counted < capacity) return (leaving + RING) * limiter.slotMs - time;
  }
}

function advance(limiter: RateLimiter, nowMs: number): number {
  if (nowMs > limiter.lastMs) limiter.elapsedMs += nowMs - limiter.lastMs;
  limiter.lastMs = nowMs;
  return limiter.elapsedMs;
}

/** Drops keys that were not seen since the previous rotation; their counts have expired. */
function rotate(limiter: RateLimiter, slot: number): void {
  limiter.former = slot - limiter.rotatedSlot >= RING * 2 ? noWindows() : limiter.recent;
  limiter.recent = noWindows();
  limiter.rotatedSlot = slot;
}

/** The window of a key not seen since the last rotation: its former one, a new one, or the shared one. */
function windowOf(limiter: RateLimiter, key: string, slot: number): readonly [Windows, number] {
  const { recent, former } = limiter;
  const from = former.places.get(key);
  if (from === undefined) {
    if (keysHeld(limiter) >= limiter.settings.keyLimit) {
      limiter.hasOverflowed = true;
      return [limiter.overflow, 0];
    }
    const at = place(recent, key, slot);
    if (limiter.hasOverflowed) {
      forgetOld(limiter.overflow, 0, slot);
      copyRing(limiter.overflow, 0, recent, at);
    }
    return [recent, at];
  }
  former.places.delete(key);
  const at = place(recent, key, former.slots[from]!);
  copyRing(former, from, recent, at);
  return [recent, at];
}

function copyRing({ counts }: Windows, from: number, to: Windows, at: number): void {
  to.counts.set(counts.subarray(from * RING, (from + 1) * RING), at * RING);
}

function noWindows(): Windows {
  return { places: new Map(), counts: new Uint32Array(0), slots: new Float64Array(0), used: 0 };
}

function place(windows: Windows, key: string, slot: number): number {
  const at = windows.used++;
  if (at >= windows.slots.length) grow(windows, Math.max(FIRST_ROOM, at * 2));
  windows.slots[at] = slot;
  windows.places.set(key, at);
  return at;
}

function grow(windows: Windows, room: number): void {
  const counts = new Uint32Array(room * RING);
  counts.set(windows.counts);
  const slots = new Float64Array(room);
  slots.set(windows.slots);
  windows.counts = counts;
  windows.slots = slots;
}

/** Clears ring slots that expired since the window was last used. */
function forgetOld(windows: Windows, at: number, slot: number): void {
  const first = at * RING;
  const from = windows.slots[at]!;
  if (slot === from) return;
  if (slot - from >= RING) windows.counts.fill(0, first, first + RING);
  else for (let each = from + 1; each <= slot; each++) windows.counts[first + (each % RING)] = 0;
  windows.slots[at] = slot;
}
