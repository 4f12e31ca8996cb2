import type { ConnectionOutput, WaitingStream } from './connection_output.ts';
import { FLAG, FRAME, frameHead, MAX_31_BITS, MAX_FRAME_BYTES } from './frames.ts';

/** The owner of a stream's sending side. */
export interface StreamWriterOwner {
  /** The system has accepted this number of bytes of content. */
  accepted(bytes: number): void;
  /** After a `flush` that returned false: everything was accepted, and lent bytes are free. */
  room(): void;
  /** Content begins to wait for the client, or some of it was sent and the rest waits. */
  stalled(): void;
  /** The end of the stream was sent. */
  ended(): void;
}

/** The sending side of a stream: content is sent as far as the windows of the stream and the connection allow. */
export class StreamWriter implements WaitingStream {
  /** Content that the client accepts on this stream, in bytes; negative after a change of settings (RFC 9113 §6.9.2). */
  window: number;
  /** END_STREAM was sent, or the stream was reset: nothing more is sent. */
  isOver = false;
  readonly #id: number;
  readonly #output: ConnectionOutput;
  readonly #owner: StreamWriterOwner;
  #pieces: Uint8Array[] = [];
  #queuedBytes = 0;
  /** Bytes that were passed to the connection but not yet accepted by the system. */
  #givenBytes = 0;
  #sentBytes = 0;
  #isWaiting = false;
  /** The header block of trailers that ends the stream; empty for an end without; null before the end. */
  #trailers: string | null = null;
  #released: (() => void) | null = null;

  constructor(id: number, output: ConnectionOutput, window: number, owner: StreamWriterOwner) {
    this.#id = id;
    this.#output = output;
    this.window = window;
    this.#owner = owner;
  }

  /** Sends a header block with the next content, or with `flush`. */
  head(block: string, endsStream: boolean): void {
    if (this.isOver) return;
    this.#output.head(this.#id, block, endsStream);
    if (endsStream) this.#end();
  }

  /** Sends heads without waiting for content. */
  send(): void {
    this.#output.flush();
  }

  /** Content, lent until `flush` returns true or `room` is called. */
  push(bytes: Uint8Array): void {
    if (this.isOver || bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#queuedBytes += bytes.length;
  }

  /** Ends the stream after everything that was pushed, with this header block of trailers, if any. Flush it. */
  end(trailers: string): void {
    this.#trailers ??= trailers;
  }

  /** Sends what it can. False: `room` follows, unless the stream is closed before. */
  flush(): boolean {
    const sentBefore = this.#sentBytes;
    this.#fill();
    const isAccepted = this.#output.flush();
    if (isAccepted && this.#givenBytes > 0) {
      this.#owner.accepted(this.#givenBytes);
      this.#givenBytes = 0;
    }
    if (isAccepted && this.#queuedBytes === 0) {
      this.#isWaiting = false;
      return true;
    }
    this.#output.wait(this);
    if (!this.#isWaiting || this.#sentBytes !== sentBefore) this.#owner.stalled();
    this.#isWaiting = true;
    return false;
  }

  proceed(): void {
    const released = this.#released;
    if (released === null) {
      if (this.flush()) this.#owner.room();
    } else if (this.#givenBytes > 0 && this.#output.isWaiting) this.#output.wait(this);
    else {
      this.#released = null;
      released();
    }
  }

  /** Changes the window; false when it would become too large (RFC 9113 §6.9.1). */
  widen(by: number): boolean {
    this.window += by;
    if (this.window > MAX_31_BITS) return false;
    if (this.#queuedBytes > 0 && this.window > 0) {
      this.#output.forget(this);
      this.proceed();
    }
    return true;
  }

  /** Drops everything that is not sent. `released` is called when the system needs no lent bytes any more. */
  close(released: () => void): void {
    this.isOver = true;
    this.#pieces = [];
    this.#queuedBytes = 0;
    this.#released = released;
    this.#output.forget(this);
    this.proceed();
  }

  #fill(): void {
    if (this.isOver) return;
    const { buffer } = this.#output;
    // Content waits here, uncopied, while the system does not accept more.
    while (this.#queuedBytes > 0 && !buffer.isWaiting) {
      const length = Math.min(this.#queuedBytes, MAX_FRAME_BYTES, this.window, this.#output.window);
      if (length <= 0) return;
      const isLast = length === this.#queuedBytes && this.#trailers === '';
      buffer.text(frameHead(length, FRAME.data, isLast ? FLAG.endStream : 0, this.#id));
      this.#give(length);
      if (isLast) this.#end();
    }
    if (this.#queuedBytes > 0 || this.#trailers === null || this.isOver) return;
    if (this.#trailers === '') buffer.text(frameHead(0, FRAME.data, FLAG.endStream, this.#id));
    else this.#output.head(this.#id, this.#trailers, true);
    this.#end();
  }

  /** Passes `length` bytes of the queue to the connection. */
  #give(length: number): void {
    this.window -= length;
    this.#output.window -= length;
    this.#queuedBytes -= length;
    this.#givenBytes += length;
    this.#sentBytes += length;
    this.#output.sentFrames++;
    const { buffer } = this.#output;
    const pieces = this.#pieces;
    let left = length;
    let at = 0;
    for (; left > 0; at++) {
      const piece = pieces[at]!;
      if (piece.length > left) {
        buffer.piece(piece.subarray(0, left));
        pieces[at] = piece.subarray(left);
        break;
      }
      buffer.piece(piece);
      left -= piece.length;
    }
    if (at === pieces.length) this.#pieces = [];
    else if (at > 0) pieces.splice(0, at);
  }

  #end(): void {
    this.isOver = true;
    this.#owner.ended();
  }
}
