/** Size of the buffer that all accepted sockets are read into, and of all others here. */
const BUFFER_BYTES = 65_536;
/** Longer reads are placed in a buffer of their own. */
const GATHERED_BYTES = 16_384;
/** Views of up to this length are kept: a new one takes longer than a short copy. */
const VIEWED_BYTES = 4_096;
/** Number of free buffers that are kept. */
const SPARE_BUFFERS = 8;

/**
 * Where reads are placed so that their bytes may stay: short ones behind those of other connections, long ones in
 * a buffer of their own. A socket that fills the shared buffer has more to read, and gets a buffer for itself, so that
 * nothing has to be copied, until a read does not fill it. Each read is one `place` and one `finish`.
 */
export class ReadMemory {
  /** All sockets without a buffer for themselves are read into this one. */
  readonly shared: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** The last read is between `from` and `to` of `bytes`. */
  bytes = this.shared;
  from = 0;
  to = 0;
  /** `bytes` hold those of other connections, too. They are never overwritten; when they are full, others follow. */
  isShared = false;
  #gathered: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #end = 0;
  readonly #spare: Buffer[] = [];
  /** Views of the first bytes of the shared buffer, by their number. */
  readonly #views: Buffer[] = [];

  /** Places the first `count` bytes of `buffer`, which was read into. */
  place(count: number, buffer: Buffer): void {
    if (count <= GATHERED_BYTES) {
      this.#gather(count, buffer);
      return;
    }
    this.bytes = buffer;
    if (buffer === this.shared) {
      this.bytes = this.#take();
      this.bytes.set(this.#start(count, buffer));
    }
    this.from = 0;
    this.to = count;
    this.isShared = false;
  }

  /** As `place`, for bytes that are kept for long: nothing else is in their memory. */
  placeAlone(count: number, buffer: Buffer): void {
    const isWhole = buffer !== this.shared && count === BUFFER_BYTES;
    this.bytes = isWhole ? buffer : Buffer.from(buffer.subarray(0, count));
    this.from = 0;
    this.to = count;
    this.isShared = false;
  }

  /**
   * Ends the read that was placed last; `isFree` if nothing of it is needed any more. Returns the buffer for the next
   * read of this socket, or undefined if it stays the same.
   */
  finish(count: number, buffer: Buffer, isFree: boolean): Buffer | undefined {
    const isOwn = buffer !== this.shared;
    const isInPlace = this.bytes === buffer;
    if (isFree && this.isShared) this.#end = this.from;
    else if (isFree && !isInPlace) this.#give(this.bytes);
    const isReusable = isFree || !isInPlace;
    if (count === BUFFER_BYTES) return isOwn && isReusable ? undefined : this.#take();
    if (!isOwn) return undefined;
    if (isReusable) this.#give(buffer);
    return this.shared;
  }

  #gather(count: number, buffer: Buffer): void {
    if (this.#end + count > BUFFER_BYTES) {
      this.#gathered = Buffer.allocUnsafeSlow(BUFFER_BYTES);
      this.#end = 0;
    }
    this.bytes = this.#gathered;
    this.bytes.set(this.#start(count, buffer), this.#end);
    this.from = this.#end;
    this.#end += count;
    this.to = this.#end;
    this.isShared = true;
  }

  #start(count: number, buffer: Buffer): Buffer {
    if (count > VIEWED_BYTES || buffer !== this.shared) return buffer.subarray(0, count);
    return (this.#views[count] ??= buffer.subarray(0, count));
  }

  #take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  #give(buffer: Buffer): void {
    if (this.#spare.length < SPARE_BUFFERS) this.#spare.push(buffer);
  }
}
