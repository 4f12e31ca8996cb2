import type { Duplex } from 'node:stream';

/** Enough for what a tick of requests sends. */
const SMALL_BYTES = 16_384;
/** Enough for what a tick of a transfer sends, four frames with their headers: TLS copies what it is given in parts. */
const LARGE_BYTES = 266_240;

/** Buffers of all connections that are not in use: new ones for each frame would keep the garbage collector busy. */
const spare = {
  small: { bytes: SMALL_BYTES, max: 64, buffers: [] as Buffer[] },
  large: { bytes: LARGE_BYTES, max: 4, buffers: [] as Buffer[] },
};

/** Frames of one connection that are sent together. */
export class Output {
  /** Full buffers, and the current one. */
  readonly #buffers: Buffer[] = [];
  /** The used part of the last buffer. */
  #to = 0;
  /** Length of the last buffer. */
  #size = 0;
  #bytes = 0;

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Room for a frame, which is filled before the next call. */
  room(bytes: number): Buffer {
    if (this.#to + bytes > this.#size) {
      const isSmall = this.#buffers.length === 0 && bytes <= SMALL_BYTES / 2;
      const { buffers, bytes: size } = isSmall ? spare.small : spare.large;
      this.#cut();
      this.#buffers.push(buffers.pop() ?? Buffer.allocUnsafeSlow(size));
      this.#size = size;
      this.#to = 0;
    }
    this.#bytes += bytes;
    this.#to += bytes;
    return this.#buffers.at(-1)!.subarray(this.#to - bytes, this.#to);
  }

  /** Writes everything with one call to the system. */
  writeTo(socket: Duplex): void {
    this.#cut();
    // TLS encrypts at once what it is given, unless an earlier write is pending; other sockets keep references.
    const isTaken = 'encrypted' in socket && socket.writableLength === 0;
    socket.cork();
    for (const bytes of this.#buffers) socket.write(isTaken ? bytes : Buffer.from(bytes));
    socket.uncork();
    this.clear();
  }

  clear(): void {
    for (const { buffer } of this.#buffers) {
      const { max, buffers } = buffer.byteLength === SMALL_BYTES ? spare.small : spare.large;
      if (buffers.length < max) buffers.push(Buffer.from(buffer as ArrayBuffer));
    }
    this.#buffers.length = 0;
    this.#bytes = 0;
    this.#to = 0;
    this.#size = 0;
  }

  /** Leaves the unused part of the last buffer out. */
  #cut(): void {
    const last = this.#buffers.pop();
    if (last !== undefined) this.#buffers.push(last.subarray(0, this.#to));
  }
}
