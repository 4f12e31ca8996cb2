import { NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';

export interface Producer {
  /** The buffer is full: stop pushing for now. */
  pause(): void;
  resume(): void;
  /** The rest is not needed. */
  cancel(): void;
}

/** Above this, the producer is paused. */
export const HIGH_WATER_BYTES = 65_536;

/**
 * A body whose producer pushes at its own pace: what arrives before there is a taker, or while it has paused,
 * is buffered in order, and the producer is paused. Bytes that arrived before a fault are passed on before
 * it.
 */
export class PushBody implements ResponseBody {
  lengthBytes: number | null = null;
  /** Bytes that are buffered for the taker. */
  queuedBytes = 0;
  readonly #producer: Producer;
  readonly #queue: Uint8Array[] = [];
  #taker: BodyTaker | null = null;
  #isWaiting = false;
  #isPaused = false;
  #hasEnded = false;
  #fault: { readonly fault: BodyFault; readonly detail: string } | null = null;

  constructor(producer: Producer) {
    this.#producer = producer;
  }

  /** Adds bytes, which must not be changed afterwards; no effect after the end. */
  push(bytes: Uint8Array): void {
    if (this.#isOver || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.queuedBytes += bytes.length;
    this.#give();
    if (this.queuedBytes < HIGH_WATER_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#producer.pause();
  }

  end(): void {
    if (this.#isOver) return;
    this.#hasEnded = true;
    this.#give();
  }

  fail(fault: BodyFault, detail: string): void {
    if (this.#isOver) return;
    this.#fault = { fault, detail };
    this.#give();
  }

  flow(taker: BodyTaker): void {
    this.#taker = taker;
    this.#give();
  }

  resume(): void {
    this.#isWaiting = false;
    this.#give();
  }

  cancel(): void {
    this.#taker = null;
    this.#queue.length = 0;
    this.queuedBytes = 0;
    if (this.#isOver) return;
    this.#hasEnded = true;
    this.#producer.cancel();
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#fault !== null;
  }

  #give(): void {
    const taker = this.#taker;
    if (taker === null || this.#isWaiting) return;
    if (this.#queue.length > 0) {
      for (const bytes of this.#queue) taker.take(bytes);
      this.#queue.length = 0;
      this.queuedBytes = 0;
      // The final bytes are sent together with the end.
      if (!this.#isOver) this.#isWaiting = !taker.rest();
    }
    if (this.#isOver) {
      this.#taker = null;
      if (this.#fault === null) taker.end(NO_FIELDS);
      else taker.fail(this.#fault.fault, this.#fault.detail);
    } else if (!this.#isWaiting && this.#isPaused) {
      this.#isPaused = false;
      this.#producer.resume();
    }
  }
}
