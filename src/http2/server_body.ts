import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import { ReadBuffer } from '../io/read_buffer.ts';
import type { BodyFault, BodyTaker, RequestBody } from '../engine/drivers/exchange_port.ts';

/** What a request body needs from its exchange. */
export interface BodyExchange {
  sendContinue(): void;
  /** It starts or stops waiting for the client. */
  waits(isWaiting: boolean): void;
  /** Content was read: the client may send as much again. */
  consumed(bytes: number): void;
}

/**
 * The content of a request on a stream. What arrives while it is not read is held; the stream's window limits how much
 * that can be.
 */
export class Http2Body implements RequestBody {
  readonly lengthBytes: number | null;
  receivedBytes = 0;
  fault: BodyFault | null = null;
  awaitsContinue: boolean;
  /** It has ended or failed. */
  isOver: boolean;
  /** All of it has arrived. */
  isWhole: boolean;
  readonly #exchange: BodyExchange;
  #taker: BodyTaker | null = null;
  #isPaused = false;
  /** Joined, so that content in many small frames takes no more memory than its bytes. */
  readonly #held = new ReadBuffer();
  #trailers: FieldList = NO_FIELDS;
  #detail = '';

  constructor(exchange: BodyExchange, lengthBytes: number | null, awaitsContinue: boolean) {
    this.#exchange = exchange;
    this.lengthBytes = lengthBytes;
    this.awaitsContinue = awaitsContinue;
    this.isOver = lengthBytes === 0;
    this.isWhole = this.isOver;
  }

  flow(taker: BodyTaker): void {
    if (this.fault !== null) {
      taker.fail(this.fault, this.#detail);
      return;
    }
    this.#taker = taker;
    if (this.isOver) {
      taker.end(NO_FIELDS);
      return;
    }
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      if (this.#held.length === 0 && !this.isWhole) this.#exchange.sendContinue();
    }
    this.#deliver();
  }

  resume(): void {
    if (this.isOver) return;
    this.#isPaused = false;
    this.#deliver();
  }

  /** Content from the client; `isStable` if its bytes never change. */
  receive(bytes: Buffer, isStable: boolean): void {
    if (this.isOver || bytes.length === 0) return;
    this.receivedBytes += bytes.length;
    if (this.#taker === null || this.#isPaused) {
      this.#held.add(bytes);
      this.#held.keep();
      return;
    }
    // A taker that pauses keeps what was lent to it.
    this.#take(isStable ? bytes : Buffer.from(bytes));
    this.#exchange.waits(!this.#isPaused);
  }

  /** The client has sent the end. */
  receiveEnd(trailers: FieldList): void {
    if (this.isOver) return;
    this.isWhole = true;
    this.#trailers = trailers;
    if (this.#taker !== null && !this.#isPaused) this.#deliver();
  }

  /** Fails the body (too slow, or the sender has left): no more will arrive. */
  fail(fault: BodyFault, detail: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.fault = fault;
    this.#detail = detail;
    this.#held.clear();
    this.#exchange.waits(false);
    this.#taker?.fail(fault, detail);
  }

  /** Discards the rest. */
  discard(): void {
    this.isOver = true;
    this.#held.clear();
  }

  #take(bytes: Buffer): void {
    this.#exchange.consumed(bytes.length);
    this.#taker!.take(bytes);
    this.#isPaused = !this.#taker!.rest();
  }

  /** Passes on what is held, and the end. */
  #deliver(): void {
    const { bytes, from, to } = this.#held;
    // What is lent is not written to any more.
    this.#held.clear();
    if (to > from) this.#take(bytes.subarray(from, to));
    if (this.isOver) return;
    const isDone = this.isWhole && !this.#isPaused;
    this.#exchange.waits(!this.isWhole && !this.#isPaused);
    if (!isDone) return;
    this.isOver = true;
    this.#taker!.end(this.#trailers);
  }
}
