import { CONTROL, RESETS } from './limits.ts';

/** Counts what costs a server more than a client, over a time window. */
export class FloodGate {
  #sinceMs = 0;
  #frames = 0;
  #resets = 0;

  /** A frame that carries nothing; true when there were too many. */
  control(): boolean {
    this.#renew();
    return ++this.#frames > CONTROL.frames;
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
    this.#frames = 0;
    this.#resets = 0;
  }
}
