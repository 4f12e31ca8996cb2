/** How much goes out together at the end of a turn: above it, what there is goes out before. */
const CHUNK_BYTES = 65_536;
const MOST_CHUNKS = 16;

/** Whose bytes wait. */
export interface Waiting {
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
 * The small writes of one turn of the event loop. All that a turn has to say is gathered in buffers of the process
 * and goes out when everything that had come has been looked at: system calls that follow one another cost less than
 * ones that alternate with our own code, for the caches of the processor and because whoever receives is awake
 * already (docs/decisions/0016_turns.md).
 */
class Turn {
  readonly #chunks = [new Chunk()];
  #at = 0;
  #waiting: Waiting[] = [];
  #others: Waiting[] = [];
  readonly #atEnd = (): void => this.end();

  /** A chunk with room for `count` bytes behind its `to`. */
  room(count: number): Chunk {
    const chunk = this.#chunks[this.#at]!;
    if (chunk.to + count <= CHUNK_BYTES) return chunk;
    if (this.#at + 1 < MOST_CHUNKS) {
      this.#at++;
      return (this.#chunks[this.#at] ??= new Chunk());
    }
    this.end();
    return this.#chunks[0]!;
  }

  /** Has `one` settled at the end of this turn. */
  add(one: Waiting): void {
    if (this.#waiting.push(one) === 1) setImmediate(this.#atEnd);
  }

  /** Hands over all that waits. */
  end(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#others;
    this.#others = waiting;
    for (const one of waiting) one.settle();
    waiting.length = 0;
    for (; this.#at > 0; this.#at--) this.#chunks[this.#at]!.clear();
    this.#chunks[0]!.clear();
  }
}

export const turn = new Turn();
