import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { Body, BodyFault, BodyTaker } from './ports.ts';
import { ReadBuffer } from './read_buffer.ts';

export type Buffered = { readonly bytes: Uint8Array } | { readonly failure: 'too_large' | BodyFault };

interface Fault {
  readonly fault: BodyFault;
  readonly detail: string;
}

/**
 * A body that can be read before it is passed on, and passed on again while all of it is buffered. From then
 * on it is only read through this object, which is the taker of the source and the body for others.
 */
export class BufferedBody implements Body, BodyTaker {
  readonly lengthBytes: number | null;
  readonly #source: Body;
  /** Joined, so that content in many small pieces takes no more memory than its bytes. */
  readonly #held = new ReadBuffer();
  #complete: boolean;
  #trailers: FieldList = NO_FIELDS;
  #fault: Fault | null = null;
  #begun = false;
  #isPaused = false;
  #isResting = false;
  #limitBytes = 0;
  #then: ((held: Buffered) => void) | null = null;
  /** The current taker. */
  #taker: BodyTaker | null = null;

  constructor(source: Body) {
    this.#source = source;
    this.lengthBytes = source.lengthBytes;
    this.#complete = source.lengthBytes === 0;
  }

  /**
   * Reads the whole body if it is not longer than `limitBytes`. A longer body stays usable: what was read
   * comes first when it is opened.
   */
  hold(limitBytes: number, then: (held: Buffered) => void): void {
    // A declared length above the limit is refused before any byte is read, or asked for by 100 Continue.
    if (this.lengthBytes !== null && this.lengthBytes > limitBytes) then({ failure: 'too_large' });
    else if (this.#taker !== null) then({ failure: 'left' });
    else {
      this.#limitBytes = limitBytes;
      this.#then = then;
      if (!this.#answer()) this.#goOn();
    }
  }

  /** Whether no byte was read or passed on. */
  get isUntouched(): boolean {
    return !this.#begun && this.#taker === null;
  }

  /** The body from its first byte, or null when bytes that were passed on are no longer buffered. */
  open(): Body | null {
    if (this.#complete) return bodyOf(this.#held.unread, this.#trailers);
    return this.#taker === null ? this : null;
  }

  flow(taker: BodyTaker): void {
    this.#taker = taker;
    const held = this.#held.unread;
    // What is lent is not written to any more.
    this.#held.clear();
    if (held.length > 0) taker.take(held);
    if (this.#fault !== null) taker.fail(this.#fault.fault, this.#fault.detail);
    else if (held.length === 0 || taker.rest()) this.#goOn();
  }

  resume(): void {
    this.#goOn();
  }

  take(bytes: Uint8Array): void {
    if (this.#taker !== null) this.#taker.take(bytes);
    else {
      this.#held.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      this.#held.keep();
    }
  }

  rest(): boolean {
    this.#isPaused = true;
    if (this.#taker !== null) this.#isPaused = !this.#taker.rest();
    else {
      // The callback may start the flow before this returns.
      this.#isResting = true;
      if (!this.#answer()) this.#isPaused = false;
      this.#isResting = false;
    }
    return !this.#isPaused;
  }

  end(trailers: FieldList): boolean {
    this.#complete = this.#taker === null;
    this.#trailers = trailers;
    if (this.#taker !== null) return this.#taker.end(trailers);
    this.#answer();
    return true; // what was lent is copied
  }

  fail(fault: BodyFault, detail: string): void {
    this.#fault = { fault, detail };
    if (this.#taker !== null) this.#taker.fail(fault, detail);
    else this.#answer();
  }

  /** Answers the pending request if possible. False: more data is needed. */
  #answer(): boolean {
    const then = this.#then;
    if (then === null) return true;
    const held = this.#outcome();
    if (held === null) return false;
    this.#then = null;
    then(held);
    return true;
  }

  #outcome(): Buffered | null {
    if (this.#held.length > this.#limitBytes) return { failure: 'too_large' };
    if (this.#complete) return { bytes: Buffer.from(this.#held.unread) };
    return this.#fault === null ? null : { failure: this.#fault.fault };
  }

  #goOn(): void {
    if (!this.#begun) {
      this.#begun = true;
      this.#source.flow(this);
    } else if (this.#isPaused) {
      this.#isPaused = false;
      if (!this.#isResting) this.#source.resume();
    }
  }
}

/** A body of bytes in memory. */
export function bodyOf(bytes: Uint8Array, trailers = NO_FIELDS): Body {
  return bytes.length === 0 ? NO_BODY : new BytesBody(bytes, trailers);
}

/** All bytes are known, so the length is, too, and each `open` gives the same bytes. */
class BytesBody implements Body {
  readonly lengthBytes: number;
  readonly #bytes: Uint8Array;
  readonly #trailers: FieldList;

  constructor(bytes: Uint8Array, trailers: FieldList) {
    this.#bytes = bytes;
    this.lengthBytes = bytes.length;
    this.#trailers = trailers;
  }

  flow(taker: BodyTaker): void {
    if (this.#bytes.length > 0) taker.take(this.#bytes);
    taker.end(this.#trailers);
  }

  resume(): void {
    // There are no further bytes.
  }
}

/** The body of a request without content. */
export const NO_BODY: Body = new BytesBody(new Uint8Array(0), NO_FIELDS);
