import type { Duplex } from 'node:stream';

const EMPTY = Buffer.alloc(0);

/**
 * The unread bytes of a connection, always contiguous. A single read is not copied; bytes that must wait for
 * more are copied into a buffer that doubles, so that a peer that sends byte by byte costs no more than
 * others.
 */
export class ReadBuffer {
  bytes: Buffer = EMPTY;
  from = 0;
  to = 0;
  /** Whether this buffer owns `bytes` and may write to them. */
  #owned = false;
  /** Whether `bytes` are part of memory that holds bytes of other connections too. */
  #shared = false;

  get length(): number {
    return this.to - this.from;
  }

  /** The unread bytes, in place. */
  get unread(): Buffer {
    return this.bytes.subarray(this.from, this.to);
  }

  /** Whether parts of the unread bytes may be kept: they are never overwritten, and keep no other bytes in memory. */
  get isStable(): boolean {
    return !this.#owned && !this.#shared;
  }

  /**
   * Adds the bytes of `more` between `from` and `to`. They are used in place until `keep` is called, which
   * copies them if needed.
   */
  add(more: Buffer, from = 0, to = more.length, isShared = false): void {
    if (this.from === this.to) {
      this.bytes = more;
      this.from = from;
      this.to = to;
      this.#owned = false;
      this.#shared = isShared;
      return;
    }
    this.#makeRoom(to - from);
    more.copy(this.bytes, this.to, from, to);
    this.to += to - from;
  }

  /** Leaves shared memory: the rest, which waits for more, is copied. Without a rest, everything is released. */
  leaveShared(): void {
    if (this.from === this.to) this.clear();
    else if (this.#shared) this.#makeRoom(0);
  }

  /** Keeps the rest until more arrives: bytes that are owned by the caller are copied. */
  keep(): void {
    if (this.from === this.to) this.clear();
    else if (!this.#owned) this.#makeRoom(0);
  }

  /** Releases everything. */
  clear(): void {
    this.bytes = EMPTY;
    this.from = 0;
    this.to = 0;
    this.#owned = false;
    this.#shared = false;
  }

  #makeRoom(length: number): void {
    const held = this.to - this.from;
    if (this.#owned && this.to + length <= this.bytes.length) return;
    // Never moved within its memory: what was read may be lent, and not yet be sent.
    const bytes = Buffer.allocUnsafeSlow(Math.max(1_024, 2 * (held + length)));
    this.bytes.copy(bytes, 0, this.from, this.to);
    this.bytes = bytes;
    this.from = 0;
    this.to = held;
    this.#owned = true;
    this.#shared = false;
  }
}

/** Returns bytes that were read ahead to the connection, for its next reader; the bytes are copied. */
export function unshiftBuffered(input: ReadBuffer, socket: Duplex): void {
  if (input.length > 0) socket.unshift(Buffer.from(input.unread));
  input.clear();
}
