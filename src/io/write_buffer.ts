import type { Duplex } from 'node:stream';
import { within } from './containment.ts';
import { DirectWriter, type DirectWriterOwner } from './direct_writer.ts';
import { emptyList } from './empty_list.ts';
import { type Chunk, tickBatch, type Postponed } from './tick_batch.ts';
import type { Socket } from 'node:net';

/** The owner of the socket. */
export interface WriteBufferOwner {
  /** Everything that a `flush` had left is with the system. */
  flushed(): void;
}

/** Up to this size, output waits for the end of the tick; larger pieces are written as they are. */
const JOINED_BYTES = 16_384;

/**
 * Output of a socket, collected for one system call: Latin-1 text and lent bytes. Lent bytes must stay valid
 * until `flush` returns true or the owner's `flushed` is called. The owner ends the socket, and calls
 * `flushNow` or `settle` before.
 */
export class WriteBuffer implements Postponed, DirectWriterOwner {
  readonly #socket: Duplex;
  readonly #owner: WriteBufferOwner;
  #text = '';
  readonly #pieces: (Uint8Array | string)[] = [];
  #bytes = 0;
  /** Text without bytes that waits for the end of the tick; Node copies what the system does not accept. */
  #alone = '';
  /** The chunk with the output for the end of the tick; null without any. */
  #chunk: Chunk | null = null;
  #from = 0;
  #to = 0;
  #waiting = false;
  readonly #isTls: boolean;
  /** Undefined until something is written. */
  #direct: DirectWriter | null | undefined = undefined;

  constructor(socket: Duplex, owner: WriteBufferOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#isTls = 'encrypted' in socket;
  }

  /** Whether the system has not accepted everything yet. */
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
   * Writes what was collected; small output waits for the end of the tick. Returns true when the lent bytes
   * are free and more may follow: the system has accepted everything of earlier ticks.
   */
  flush(): boolean {
    if (this.#bytes > 0) {
      if (this.#bytes <= JOINED_BYTES) this.#postpone();
      else {
        this.settle();
        this.#writePieces();
      }
      this.#text = '';
      emptyList(this.#pieces);
      this.#bytes = 0;
    }
    if (this.#waiting || this.#socket.destroyed) return false;
    const isStreamEmpty = this.#socket.writableLength === 0;
    const isDirectFinished = this.#direct?.isFinished !== false;
    if (isStreamEmpty && isDirectFinished) return true;
    this.settle();
    this.#waiting = true;
    // `drain` is only emitted above the high-water mark; the callback of an empty final write always runs.
    if (isDirectFinished) this.#socket.write(NOTHING, (error) => this.#flushed(error));
    return false;
  }

  /**
   * As `flush`, without waiting for the end of the tick. Returns true when the system has accepted
   * everything.
   */
  flushNow(): boolean {
    this.flush();
    this.settle();
    return this.flush();
  }

  settle(): void {
    const chunk = this.#chunk;
    const text = this.#alone;
    this.#chunk = null;
    this.#alone = '';
    if (this.#socket.destroyed) return;
    if (chunk !== null) {
      if (!this.#write(chunk.bytes.subarray(this.#from, this.#to))) chunk.isKept = true;
    } else if (text !== '') this.#write(text);
  }

  /** Returns false if the bytes must stay valid. */
  #write(data: Uint8Array | string): boolean {
    const socket = this.#socket;
    const direct = this.#directNow();
    if (direct !== null) return direct.write(data);
    if (typeof data === 'string') return socket.write(data, 'latin1');
    if (this.#isTls) {
      // TLS accepts data at once, but reports it in a later tick.
      socket.write(Buffer.from(data));
      return true;
    }
    socket.write(data);
    return socket.writableLength === 0;
  }

  /** What the system had left of direct writes is sent. */
  finished(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength === 0) this.#owner.flushed();
    else this.flush();
  }

  /** The writer that goes past the stream, unless the stream has something to write, or is not connected. */
  #directNow(): DirectWriter | null {
    const socket = this.#socket;
    if (this.#direct === undefined) {
      if ('connecting' in socket && socket.connecting === true) return null;
      this.#direct = DirectWriter.of(socket, this);
    }
    return socket.writableLength === 0 ? this.#direct : null;
  }

  #flushed(error?: Error | null): void {
    // What was written past the stream, after it had nothing left: `finished` follows.
    if (this.#direct?.isFinished === false) return;
    this.#waiting = false;
    // Otherwise the connection has closed, which its owner notices.
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

  /** Copies the collected output to the output for the end of the tick. */
  #join(): void {
    const chunk = tickBatch.room(this.#bytes);
    // Output in another chunk, or followed by other output, is sent on its own.
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
    const direct = this.#directNow();
    if (direct !== null) {
      const [first] = this.#pieces;
      if (this.#text === '' && this.#pieces.length === 1) direct.write(first!);
      else direct.writeAll(this.#text === '' ? this.#pieces : [this.#text, ...this.#pieces]);
      return;
    }
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

/**
 * Ends a connection so that the client can read the response before the close; false when it is closed
 * already.
 */
export function endGently(socket: Socket, output: WriteBuffer): boolean {
  if (socket.destroyed) return false;
  output.settle();
  socket.end();
  // A close with unread bytes makes the system send a reset, which can overtake the response.
  socket.resume();
  return true;
}
