import type { Socket } from 'node:net';
import { within } from './containment.ts';
import { type Chunk, tickBatch, type Postponed } from './tick_batch.ts';

/** Whose socket it is. */
export interface WriteBufferOwner {
  /** All that a `flush` left behind is with the system. */
  flushed(): void;
}

/** Up to this much waits for the end of the turn; above it the pieces are handed over as they are. */
const JOINED_BYTES = 16_384;

/**
 * What goes out on a socket, gathered for one system call: text in Latin-1 and bytes that are lent. Bytes must stay as
 * they are until `flush` has said true or the owner was told `flushed`. Whoever owns the socket sees to its end, and
 * says `flushNow` or `settle` before it.
 */
export class WriteBuffer implements Postponed {
  readonly #socket: Socket;
  readonly #owner: WriteBufferOwner;
  #text = '';
  readonly #pieces: (Uint8Array | string)[] = [];
  #bytes = 0;
  /** Text that waits for the end of the turn by itself; Node copies what the system leaves over of a text. */
  #alone = '';
  /** Where in its chunk is what waits for the end of the turn; null when nothing does. */
  #chunk: Chunk | null = null;
  #from = 0;
  #to = 0;
  #waiting = false;
  readonly #isTls: boolean;

  constructor(socket: Socket, owner: WriteBufferOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#isTls = 'encrypted' in socket;
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

  /**
   * Hands over all that was gathered, what is small at the end of the turn. True when the lent bytes are not needed
   * any more and more may follow: the system has taken all of earlier turns.
   */
  flush(): boolean {
    if (this.#bytes > 0) {
      if (this.#bytes <= JOINED_BYTES) this.#postpone();
      else {
        this.settle();
        this.#writePieces();
      }
      this.#text = '';
      this.#pieces.length = 0;
      this.#bytes = 0;
    }
    if (this.#waiting || this.#socket.destroyed) return false;
    if (this.#socket.writableLength === 0) return true;
    this.settle();
    // `drain` comes above the high-water mark only: an empty write behind the others always tells.
    this.#waiting = true;
    this.#socket.write(NOTHING, (error) => this.#flushed(error));
    return false;
  }

  /** The same without waiting for the end of the turn. True when the system has taken it, and all before it. */
  flushNow(): boolean {
    this.flush();
    this.settle();
    return this.flush();
  }

  settle(): void {
    const chunk = this.#chunk;
    const socket = this.#socket;
    if (chunk === null) {
      if (this.#alone !== '' && !socket.destroyed) socket.write(this.#alone, 'latin1');
      this.#alone = '';
      return;
    }
    this.#chunk = null;
    if (socket.destroyed) return;
    const bytes = chunk.bytes.subarray(this.#from, this.#to);
    // TLS takes what it is given at once, and says so in a later turn.
    socket.write(this.#isTls ? Buffer.from(bytes) : bytes);
    if (!this.#isTls && socket.writableLength > 0) chunk.isKept = true;
  }

  #flushed(error?: Error | null): void {
    this.#waiting = false;
    // Else the connection is over, which its owner sees.
    if (error === undefined || error === null) within(this.#socket, () => this.#owner.flushed());
  }

  #postpone(): void {
    if (this.#pieces.length > 0 || this.#chunk !== null) this.#join();
    else if (this.#alone !== '' && this.#alone.length + this.#bytes <= JOINED_BYTES)
      this.#alone += this.#text;
    else {
      this.settle();
      this.#alone = this.#text;
      tickBatch.add(this);
    }
  }

  /** Copies what was gathered to what goes out at the end of the turn. */
  #join(): void {
    const chunk = tickBatch.room(this.#bytes);
    // What waits elsewhere, or has something else behind it, goes out by itself.
    if (this.#chunk !== chunk || this.#to !== chunk.to) {
      this.settle();
      this.#chunk = chunk;
      this.#from = chunk.to;
      tickBatch.add(this);
    }
    const target = chunk.bytes;
    let at = chunk.to;
    at += target.write(this.#text, at, 'latin1');
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += target.write(piece, at, 'latin1');
      else {
        target.set(piece, at);
        at += piece.length;
      }
    }
    this.#to = chunk.to = at;
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
