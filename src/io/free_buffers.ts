/** Length of a buffer that is used again: that of the longest body that is compressed whole. */
const REUSED_BYTES = 131_072;
/** Shorter content gets a buffer of at most twice its length: many slow upstreams must not hold many long ones. */
const SHORT_BYTES = 32_768;
/** At most 2 MB stay in memory. */
const MAX_FREE = 16;

/**
 * Buffers for bodies that are complete within a few ticks. Reused ones cost neither a new allocation nor the garbage
 * collections that a lot of memory outside of the heap starts.
 */
class FreeBuffers {
  readonly #free: Buffer[] = [];

  /** A buffer of at least `length` bytes that begins with the first `used` of `current`: the same if it is long enough. */
  withRoom(current: Buffer | null, used: number, length: number): Buffer {
    if (current !== null && current.length >= length) return current;
    const isReused = length > SHORT_BYTES && length <= REUSED_BYTES;
    const wider = isReused ? this.#reused() : Buffer.allocUnsafeSlow(2 * length);
    current?.copy(wider, 0, 0, used);
    return wider;
  }

  #reused(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(REUSED_BYTES);
  }

  /** Takes a buffer back; its user keeps no reference to it. */
  give(buffer: Buffer): void {
    if (buffer.length === REUSED_BYTES && this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}

export const freeBuffers = new FreeBuffers();
