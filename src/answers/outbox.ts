import type { Socket } from 'node:net';

/** Whose socket it is. */
export interface OutboxOwner {
  /** All that a `flush` left behind is with the system. */
  flushed(): void;
}

/** Up to this much is put together into one buffer; above it the pieces are handed over as they are. */
const JOINED_BYTES = 16_384;

/**
 * One buffer for all writes of this process. A write is handed to the system at once; when the system does not take
 * all of it, the buffer is left to that write and another one is made, so that nothing queued is ever overwritten.
 */
let scratch = Buffer.allocUnsafeSlow(JOINED_BYTES);

/**
 * What goes out on a socket, gathered for one system call: text in Latin-1 and bytes that are lent. Bytes must stay as
 * they are until `flush` has said true or the owner was told `flushed`. Whoever owns the socket sees to its end.
 */
export class Outbox {
  readonly #socket: Socket;
  readonly #owner: OutboxOwner;
  #text = '';
  readonly #pieces: (Uint8Array | string)[] = [];
  #bytes = 0;
  #waiting = false;

  constructor(socket: Socket, owner: OutboxOwner) {
    this.#socket = socket;
    this.#owner = owner;
  }

  /** Whether the system has not taken all yet. */
  get isWaiting(): boolean {
    return this.#waiting;
  }

  text(text: string): void {
    if (this.#pieces.length === 0) this.#text += text;
    else this.#pieces.push(text);
    this.#bytes += text.length;
  }

  piece(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
  }

  /** Hands over all that was gathered. True when the system has taken it, and all before it. */
  flush(): boolean {
    if (this.#bytes > 0) {
      if (this.#pieces.length === 0) this.#socket.write(this.#text, 'latin1');
      else if (this.#bytes <= JOINED_BYTES) this.#writeJoined();
      else this.#writePieces();
      this.#text = '';
      this.#pieces.length = 0;
      this.#bytes = 0;
    }
    if (this.#waiting || this.#socket.destroyed) return false;
    if (this.#socket.writableLength === 0) return true;
    // `drain` comes above the high-water mark only: an empty write behind the others always tells.
    this.#waiting = true;
    this.#socket.write(NOTHING, (error) => this.#flushed(error));
    return false;
  }

  #flushed(error?: Error | null): void {
    this.#waiting = false;
    if (error === undefined || error === null) this.#owner.flushed(); // else the connection is over, which its owner sees
  }

  #writeJoined(): void {
    const target = scratch;
    let at = target.write(this.#text, 0, 'latin1');
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += target.write(piece, at, 'latin1');
      else {
        target.set(piece, at);
        at += piece.length;
      }
    }
    this.#socket.write(target.subarray(0, at));
    if (this.#socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(JOINED_BYTES);
  }

  #writePieces(): void {
    this.#socket.cork();
    if (this.#text !== '') this.#socket.write(this.#text, 'latin1');
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') this.#socket.write(piece, 'latin1');
      else this.#socket.write(piece);
    }
    this.#socket.uncork();
  }
}

const NOTHING = Buffer.alloc(0);
