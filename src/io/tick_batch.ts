import { type Endable, failed, reportFault } from './containment.ts';

/** How much goes out together at the end of a turn: above it, what there is goes out before. */
const CHUNK_BYTES = 65_536;
const MOST_CHUNKS = 16;

/** Reads up to this length wait for the end of the turn; longer ones would drive each other out of the caches. */
export const WAITING_BYTES = 4_096;

/** Who has bytes that came and were not looked at. */
export interface Reading {
  /** What a fault of ours ends. */
  readonly socket: Endable;
  /** Goes on with what came; called once more when there is nothing left, it does nothing. */
  advance(): void;
}

/** Who has bytes that go out at the end of the turn. */
export interface Postponed {
  /** Hands over what waits. */
  settle(): void;
}

/** Bytes that wait; what the system leaves over of a write keeps no more than one chunk in memory. */
export class Chunk {
  bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** Up to where they are in use. */
  to = 0;
  /** The system has not taken all of a write: they must not be overwritten. */
  isKept = false;

  clear(): void {
    this.to = 0;
    if (this.isKept) this.bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.isKept = false;
  }
}

/**
 * One turn of the event loop: what came on all connections is looked at together, and what there is to say to all goes
 * out together. Code that runs many times in a row finds itself in the caches of the processor, where system calls
 * between would drive it out; and whoever receives is awake already (docs/decisions/0016_turns.md).
 */
class Turn {
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

  /** Has `one` go on at the end of this turn. */
  read(one: Reading): void {
    this.#reading.push(one);
    this.#begin();
  }

  /** A chunk with room for `count` bytes behind its `to`. */
  room(count: number): Chunk {
    const chunk = this.#chunks[this.#at]!;
    if (chunk.to + count <= CHUNK_BYTES) return chunk;
    if (this.#at + 1 < MOST_CHUNKS) {
      this.#at++;
      return (this.#chunks[this.#at] ??= new Chunk());
    }
    this.#settle();
    return this.#chunks[0]!;
  }

  /** Has `one` settled at the end of this turn. */
  add(one: Postponed): void {
    this.#postponed.push(one);
    this.#begin();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    setImmediate(this.#atEnd);
  }

  /** Looks at all that came, and hands over all that waits. */
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
    reading.length = 0;
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
    postponed.length = 0;
    this.#sparePostponed = postponed;
    for (; this.#at > 0; this.#at--) this.#chunks[this.#at]!.clear();
    this.#chunks[0]!.clear();
  }
}

export const tickBatch = new Turn();
