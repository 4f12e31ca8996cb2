import type { Socket } from 'node:net';
import { WriteBuffer, type WriteBufferOwner } from '../io/write_buffer.ts';
import { DEFAULT_WINDOW_BYTES, headersFrames } from './frames.ts';
import { EMPTY_TABLE } from './hpack/encoder.ts';

/** A stream with content that waits for a window or for the system. */
export interface WaitingStream {
  /** There may be room. */
  proceed(): void;
}

/** The sending side of a connection: its window, and the streams that wait for room, which take turns. */
export class ConnectionOutput implements WriteBufferOwner {
  readonly buffer: WriteBuffer;
  /** Content that the client accepts on the connection, in bytes. */
  window = DEFAULT_WINDOW_BYTES;
  /** Frames of responses: heads and content. */
  sentFrames = 0;
  readonly #socket: Socket;
  readonly #writeIdleMs: number;
  /** In the order of their turns; not a set, which would keep what has left (docs/decisions/0062_dense_lists.md). */
  readonly #waiting: WaitingStream[] = [];
  /** What the next header block begins with. */
  #blockStart = '';

  /** `writeIdleMs`: how long the client may read nothing. */
  constructor(socket: Socket, writeIdleMs: number) {
    this.#socket = socket;
    this.#writeIdleMs = writeIdleMs;
    this.buffer = new WriteBuffer(socket, this);
  }

  /** Whether the system has not accepted everything. */
  get isWaiting(): boolean {
    return this.buffer.isWaiting && !this.#socket.destroyed;
  }

  /** RFC 9113 §4.3.1: a client with a smaller table expects the next header block to begin with an update of its size. */
  shrinkTable(): void {
    this.#blockStart = EMPTY_TABLE;
  }

  /** Adds a header block to the output. */
  head(stream: number, block: string, endsStream: boolean): void {
    this.buffer.text(headersFrames(stream, this.#blockStart + block, endsStream));
    this.#blockStart = '';
    this.sentFrames++;
  }

  /** Sends frames without content. */
  send(frames: string): void {
    this.buffer.text(frames);
    this.flush();
  }

  /** False: the system has not accepted everything, and lent bytes must stay valid until `proceed`. */
  flush(): boolean {
    if (this.buffer.flush()) return true;
    // Node restarts this timeout while the system accepts bytes.
    this.#socket.setTimeout(this.#writeIdleMs);
    return false;
  }

  /** Calls `proceed` when there is room; the last to wait is the last to be called. */
  wait(stream: WaitingStream): void {
    this.forget(stream);
    this.#waiting.push(stream);
  }

  /** Returns false if the stream did not wait. */
  forget(stream: WaitingStream): boolean {
    const place = this.#waiting.indexOf(stream);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }

  /** The client accepts more content on the connection. */
  widen(by: number): void {
    const wasEmpty = this.window <= 0;
    this.window += by;
    // Otherwise each of many small increments would cost a turn of all streams, which wait for something else.
    if (!wasEmpty) return;
    for (const stream of this.#waiting.slice()) {
      if (this.window <= 0) return;
      if (this.forget(stream)) stream.proceed();
    }
  }

  flushed(): void {
    this.#socket.setTimeout(0);
    this.proceed();
  }

  /** Gives each waiting stream a turn. */
  proceed(): void {
    for (const stream of this.#waiting.slice()) if (this.forget(stream)) stream.proceed();
  }
}
