/**
 * A sliding window for each key. The window is cut into ten slots; requests let through are counted in the slot
 * in which they came, and what counts is the current slot and the ten before it. So in no span of `windowMs`
 * are more than `capacity` let through, and a request let through counts for at most 1.1 × `windowMs`.
 * Requests that are held back do not count: a client that keeps knocking is not locked out for ever. Services of this
 * kind do not say how finely their windows slide; slots are always so that the limit is never exceeded.
 *
 * Memory is 52 bytes a key and the key itself, for at most `keyLimit` keys. Keys unseen for a whole window are
 * dropped in one go. While there is no room, all new keys share one window of the same capacity: a flood of
 * invented keys neither exhausts memory nor pushes out the counts of others.
 */
export interface RateLimitSettings {
  /** Requests let through in any `windowMs`; 1 to 4,294,967,295. */
  readonly capacity: number;
  /** A multiple of 10. */
  readonly windowMs: number;
  /** Keys held at most. */
  readonly keyLimit: number;
}

/** What a limiter remembers; changed by `take` only. */
export interface RateLimiter {
  readonly settings: RateLimitSettings;
  readonly slotMs: number;
  /** Time that passed in here, and what the clock said then: a step back of the clock is no time at all. */
  elapsedMs: number;
  lastMs: number;
  rotatedSlot: number;
  /** Keys seen since the last rotation, and those seen before it and not since. */
  recent: Windows;
  former: Windows;
  /** The one window of all keys that found no room. */
  readonly overflow: Windows;
}

/** The windows of some keys: place p has the ring `counts[p × 11 …]`, last brought up to date in `slots[p]`. */
interface Windows {
  readonly places: Map<string, number>;
  counts: Uint32Array;
  slots: Float64Array;
  used: number;
}

const SLOTS = 10;
/** The current slot and ten before it. */
const RING = SLOTS + 1;
const FIRST_ROOM = 16;

/** Keys that one limiter holds where nothing else is said. */
export const KEY_LIMIT = 1_000_000;

/** The window of a limit in words, for traces: for how long a request counts depends on when in its slot it came. */
export function windowText(windowMs: number): string {
  return `${windowMs / 1_000}s in ${SLOTS} slots of ${windowMs / 1_000 / SLOTS}s`;
}

/** A limiter that has seen nothing. */
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
  };
}

/** Number of keys held. */
export function keysHeld(limiter: RateLimiter): number {
  return limiter.recent.places.size + limiter.former.places.size;
}

/**
 * Lets one request of `key` through and counts it: 0. Or does not, and gives the milliseconds until one would be
 * let through if nothing else came between: above 0.
 */
export function take(limiter: RateLimiter, key: string, nowMs: number): number {
  const time = advance(limiter, nowMs);
  const slot = Math.floor(time / limiter.slotMs);
  if (slot - limiter.rotatedSlot >= RING) rotate(limiter, slot);
  const known = limiter.recent.places.get(key);
  if (known !== undefined) return takeAt(limiter, limiter.recent, known, slot, time);
  const [windows, at] = newcomer(limiter, key, slot);
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
  // The oldest slots leave first: there is room when enough of them are gone.
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

/** What was not seen since the rotation before has nothing left that counts. */
function rotate(limiter: RateLimiter, slot: number): void {
  limiter.former = slot - limiter.rotatedSlot >= RING * 2 ? noWindows() : limiter.recent;
  limiter.recent = noWindows();
  limiter.rotatedSlot = slot;
}

/** The window of a key not seen since the last rotation: its former one, a new one, or the one for all. */
function newcomer(limiter: RateLimiter, key: string, slot: number): readonly [Windows, number] {
  const { recent, former } = limiter;
  const from = former.places.get(key);
  if (from === undefined) {
    if (keysHeld(limiter) >= limiter.settings.keyLimit) return [limiter.overflow, 0];
    return [recent, place(recent, key, slot)];
  }
  former.places.delete(key);
  const at = place(recent, key, former.slots[from]!);
  recent.counts.set(former.counts.subarray(from * RING, (from + 1) * RING), at * RING);
  return [recent, at];
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

/** Empties the slots of the ring that came up since the window was last looked at. */
function forgetOld(windows: Windows, at: number, slot: number): void {
  const first = at * RING;
  const from = windows.slots[at]!;
  if (slot === from) return;
  if (slot - from >= RING) windows.counts.fill(0, first, first + RING);
  else for (let each = from + 1; each <= slot; each++) windows.counts[first + (each % RING)] = 0;
  windows.slots[at] = slot;
}
