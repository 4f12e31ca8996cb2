import type { Duplex } from 'node:stream';

const EMPTY = Buffer.alloc(0);

/**
 * The bytes of a connection that have come and were not read yet, always in one piece. What comes alone is not
 * copied; what has to wait for more is, into a buffer that doubles, so that a peer that sends byte by byte costs no
 * more than one that does not.
 */
export class ReadBuffer {
  bytes: Buffer = EMPTY;
  from = 0;
  to = 0;
  /** Whether `bytes` is this inbox's own to write to. */
  #owned = false;

  get length(): number {
    return this.to - this.from;
  }

  /** Adds bytes. They may be used until `keep` is called, which makes a copy where one is needed. */
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

  /** What is left stays until more comes: bytes that belong to somebody else are copied. */
  keep(): void {
    if (this.from === this.to) this.clear();
    else if (!this.#owned) this.#makeRoom(0);
  }

  /** Lets go of all. */
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

/** Gives a connection back what was read ahead of it, for whoever takes it over; the bytes are copied. */
export function unshiftBuffered(input: ReadBuffer, socket: Duplex): void {
  if (input.length > 0) socket.unshift(Buffer.from(input.bytes.subarray(input.from, input.to)));
  input.clear();
}
