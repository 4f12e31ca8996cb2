import { NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';

export interface Producer {
  /** What was pushed waits: push no more for now. */
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. */
  cancel(): void;
}

/** Above this the producer is paused. */
const HIGH_WATER_BYTES = 65_536;

/**
 * A body whose producer pushes when it likes: what comes before somebody takes it, or while the taker waits, is kept
 * in order, and the producer told to pause. A fault overtakes nothing: bytes that came before it are given before it.
 */
export class PushBody implements ResponseBody {
  lengthBytes: number | null = null;
  /** Bytes that wait for the taker. */
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

  /** Adds bytes, which must not be changed afterwards; without effect after the end. */
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
      // What ends here is sent with its end.
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
