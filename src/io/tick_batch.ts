import { type Endable, failed, reportFault } from './containment.ts';
import { emptyList } from './empty_list.ts';

/** Size of a chunk that is sent together at the end of a tick; when it is full, it is sent earlier. */
const CHUNK_BYTES = 65_536;
const MAX_CHUNKS = 16;

/**
 * Reads up to this length wait for the end of the tick; longer ones would evict each other from the CPU
 * caches.
 */
export const WAITING_BYTES = 4_096;

/** A connection with unprocessed input. */
export interface Reading {
  /** The stream that a fault of ours ends. */
  readonly socket: Endable;
  /** Processes the input; does nothing when called once more without input. */
  advance(): void;
}

/** A connection with output for the end of the tick. */
export interface Postponed {
  /** Writes the pending output. */
  settle(): void;
}

/** Pending output; when the system does not accept all of a write, at most one chunk stays in memory. */
export class Chunk {
  bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** The end of the used part. */
  to = 0;
  /** The system has not accepted all of a write: the bytes must not be overwritten. */
  isKept = false;

  clear(): void {
    this.to = 0;
    if (this.isKept) this.bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.isKept = false;
  }
}

/**
 * One tick of the event loop: input of all connections is processed together, then the output for all is sent
 * together. Code that runs many times in a row stays in the CPU caches, which system calls in between would
 * evict; and the receivers are awake already (docs/decisions/0016_turns.md).
 */
class TickBatch {
  readonly #chunks = [new Chunk()];
  #at = 0;
  #isBegun = false;
  #reading: Reading[] = [];
  #postponed: Postponed[] = [];
  #spareReading: Reading[] = [];
  #sparePostponed: Postponed[] = [];
  readonly #atEnd = (): void => {
    this.#isBegun = false;
    this.end();
  };

  /** Processes the input of `one` at the end of this tick. */
  read(one: Reading): void {
    this.#reading.push(one);
    this.#begin();
  }

  /** A chunk with room for `count` bytes after its `to`. */
  room(count: number): Chunk {
    const chunk = this.#chunks[this.#at]!;
    if (chunk.to + count <= CHUNK_BYTES) return chunk;
    if (this.#at + 1 < MAX_CHUNKS) {
      this.#at++;
      return (this.#chunks[this.#at] ??= new Chunk());
    }
    this.#settle();
    return this.#chunks[0]!;
  }

  /** Writes the output of `one` at the end of this tick. */
  add(one: Postponed): void {
    this.#postponed.push(one);
    this.#begin();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    setImmediate(this.#atEnd);
  }

  /** Processes all input, and sends all pending output. */
  end(): void {
    const reading = this.#reading;
    this.#reading = this.#spareReading;
    for (const one of reading) {
      try {
        one.advance();
      } catch (error) {
        failed(one.socket, error);
      }
    }
    emptyList(reading);
    this.#spareReading = reading;
    this.#settle();
  }

  #settle(): void {
    const postponed = this.#postponed;
    this.#postponed = this.#sparePostponed;
    for (const one of postponed) {
      try {
        one.settle();
      } catch (error) {
        reportFault(error);
      }
    }
    emptyList(postponed);
    this.#sparePostponed = postponed;
    for (; this.#at > 0; this.#at--) this.#chunks[this.#at]!.clear();
    this.#chunks[0]!.clear();
  }
}

export const tickBatch = new TickBatch();
