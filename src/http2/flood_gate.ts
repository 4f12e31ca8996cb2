import type { ConnectionOutput } from './connection_output.ts';
import { CONTROL, RESETS } from './limits.ts';

/** Counts what costs a server more than a client, over a time window. */
export class FloodGate {
  readonly #output: Pick<ConnectionOutput, 'sentFrames'>;
  /** The window begins with the first count. */
  #sinceMs = Number.NEGATIVE_INFINITY;
  /** The value of `sentFrames` at that time. */
  #sentBefore = 0;
  #frames = 0;
  #resets = 0;

  constructor(output: Pick<ConnectionOutput, 'sentFrames'>) {
    this.#output = output;
  }

  /**
   * A frame that carries nothing; true when there were too many. Each frame of a response allows for one more: clients
   * of gRPC answer content with a PING, to measure the bandwidth.
   */
  control(): boolean {
    this.#renew();
    return ++this.#frames > CONTROL.frames + this.#output.sentFrames - this.#sentBefore;
  }

  /**
   * A stream that ended before its response because of the client: it reset the stream (CVE-2023-44487), or made us reset
   * it (CVE-2025-8671). True when there were too many.
   */
  reset(): boolean {
    this.#renew();
    return ++this.#resets > RESETS;
  }

  #renew(): void {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < CONTROL.windowMs) return;
    this.#sinceMs = nowMs;
    this.#sentBefore = this.#output.sentFrames;
    this.#frames = 0;
    this.#resets = 0;
  }
}
