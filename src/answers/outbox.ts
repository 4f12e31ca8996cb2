import type { Socket } from 'node:net';
import { turn, type Waiting } from './turn.ts';

/** Whose socket it is. */
export interface OutboxOwner {
  /** All that a `flush` left behind is with the system. */
  flushed(): void;
}

/** Up to this much waits for the end of the turn; above it the pieces are handed over as they are. */
const JOINED_BYTES = 16_384;

/**
 * What goes out on a socket, gathered for one system call: text in Latin-1 and bytes that are lent. Bytes must stay as
 * they are until `flush` has said true or the owner was told `flushed`. Whoever owns the socket sees to its end, and
 * says `flushNow` before it.
 */
export class Outbox implements Waiting {
  readonly #socket: Socket;
  readonly #owner: OutboxOwner;
  #text = '';
  readonly #pieces: (Uint8Array | string)[] = [];
  #bytes = 0;
  /** Where in `turn.bytes` is what waits for the end of the turn. */
  #from = 0;
  #to = 0;
  #waiting = false;
  readonly #isTls: boolean;

  constructor(socket: Socket, owner: OutboxOwner) {
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
      if (this.#bytes <= JOINED_BYTES) this.#join();
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
    const bytes = turn.bytes.subarray(this.#from, this.#to);
    this.#from = this.#to = 0;
    const socket = this.#socket;
    if (bytes.length === 0 || socket.destroyed) return;
    // TLS takes what it is given at once, and says so in a later turn.
    if (this.#isTls) socket.write(Buffer.from(bytes));
    else {
      socket.write(bytes);
      if (socket.writableLength > 0) turn.keep();
    }
  }

  #flushed(error?: Error | null): void {
    this.#waiting = false;
    if (error === undefined || error === null) this.#owner.flushed(); // else the connection is over, which its owner sees
  }

  /** Copies what was gathered to what goes out at the end of the turn. */
  #join(): void {
    turn.makeRoom(this.#bytes);
    // Something else has been put behind what waits here.
    if (this.#to !== turn.to) this.settle();
    const target = turn.bytes;
    let at = turn.to;
    if (this.#to === 0) {
      this.#from = at;
      turn.add(this);
    }
    at += target.write(this.#text, at, 'latin1');
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += target.write(piece, at, 'latin1');
      else {
        target.set(piece, at);
        at += piece.length;
      }
    }
    this.#to = turn.to = at;
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
