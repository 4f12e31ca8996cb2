import type { BodyFault, BodyPart } from './port.ts';

export interface Producer {
  pause(): void;
  resume(): void;
  /** Longest wait of one pull, in ms; 0 for no limit. Only waiting counts, not what the reader takes. */
  readonly idleMs: number;
}

/** Above this the producer is paused. */
const HIGH_WATER_BYTES = 65_536;

/**
 * Joins a producer that pushes to a reader that pulls. At most `HIGH_WATER_BYTES` and what the producer had in hand
 * when it was paused are kept. A fault overtakes nothing: bytes that came before it are read before it.
 */
export class Flow {
  readonly #producer: Producer;
  readonly #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #paused = false;
  #last: BodyPart | null = null;
  #waiting: ((part: BodyPart) => void) | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(producer: Producer) {
    this.#producer = producer;
  }

  /** Whether no more will be pushed. */
  get ended(): boolean {
    return this.#last !== null;
  }

  get fault(): BodyFault | null {
    return this.#last?.part === 'fault' ? this.#last.fault : null;
  }

  /** Adds bytes, which must not be changed afterwards; without effect after the end. */
  push(bytes: Uint8Array): void {
    if (this.#last !== null || bytes.length === 0) return;
    if (this.#waiting !== null) {
      this.#settle({ part: 'bytes', bytes });
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes >= HIGH_WATER_BYTES && !this.#paused) {
      this.#paused = true;
      this.#producer.pause();
    }
  }

  end(): void {
    this.#finish({ part: 'end' });
  }

  fail(fault: BodyFault, detail: string): void {
    this.#finish({ part: 'fault', fault, detail });
  }

  /** The next part; one pull at a time, never rejects. */
  pull(): Promise<BodyPart> {
    let part = this.#next();
    if (this.#paused && this.#queuedBytes === 0) {
      this.#paused = false;
      this.#producer.resume(); // may push before it returns
      part ??= this.#next();
    }
    if (part !== null) return Promise.resolve(part);
    const { idleMs } = this.#producer;
    if (idleMs > 0) {
      this.#timer = setTimeout(() => this.fail('timeout', `nothing came for ${idleMs} ms`), idleMs);
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #next(): BodyPart | null {
    const bytes = this.#queue.shift();
    if (bytes === undefined) return this.#last;
    this.#queuedBytes -= bytes.length;
    return { part: 'bytes', bytes };
  }

  #settle(part: BodyPart): void {
    const resolve = this.#waiting;
    this.#waiting = null;
    clearTimeout(this.#timer);
    resolve?.(part);
  }

  #finish(part: BodyPart): void {
    if (this.#last !== null) return;
    this.#last = part;
    if (this.#waiting !== null) this.#settle(part);
  }
}
