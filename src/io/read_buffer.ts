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

  get length(): number {
    return this.to - this.from;
  }

  /** The unread bytes, in place. */
  get unread(): Buffer {
    return this.bytes.subarray(this.from, this.to);
  }

  /** Whether the unread bytes are never overwritten, so that parts of them may be kept. */
  get isStable(): boolean {
    return !this.#owned;
  }

  /** Adds bytes. They are used in place until `keep` is called, which copies them if needed. */
  add(more: Buffer, length = more.length): void {
    if (this.from === this.to) {
      this.bytes = more;
      this.from = 0;
      this.to = length;
      this.#owned = false;
      return;
    }
    this.#makeRoom(length);
    more.copy(this.bytes, this.to, 0, length);
    this.to += length;
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
  }

  #makeRoom(length: number): void {
    const held = this.to - this.from;
    if (this.#owned && this.to + length <= this.bytes.length) return;
    const room = Math.max(1_024, 2 * (held + length));
    const bytes = this.#owned && room <= this.bytes.length ? this.bytes : Buffer.allocUnsafeSlow(room);
    this.bytes.copy(bytes, 0, this.from, this.to);
    this.bytes = bytes;
    this.from = 0;
    this.to = held;
    this.#owned = true;
  }
}

/** Returns bytes that were read ahead to the connection, for its next reader; the bytes are copied. */
export function unshiftBuffered(input: ReadBuffer, socket: Duplex): void {
  if (input.length > 0) socket.unshift(Buffer.from(input.unread));
  input.clear();
}
