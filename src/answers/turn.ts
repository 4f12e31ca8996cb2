/** Bytes that wait for the end of a turn, at most; whoever has more hands over what there is before. */
const TURN_BYTES = 1_048_576;

/** Whose bytes wait. */
export interface Waiting {
  /** Hands over what waits. */
  settle(): void;
}

/**
 * The small writes of one turn of the event loop. All that a turn has to say is gathered in one buffer of the process
 * and goes out when everything that had come has been looked at: system calls that follow one another cost less than
 * ones that alternate with our own code, for the caches of the processor and because whoever receives is awake
 * already (docs/decisions/0016_turns.md).
 */
class Turn {
  bytes = Buffer.allocUnsafeSlow(TURN_BYTES);
  /** Up to where they are in use. */
  to = 0;
  #isKept = false;
  #waiting: Waiting[] = [];
  #others: Waiting[] = [];
  readonly #atEnd = (): void => this.end();

  /** Makes room for `count` bytes behind `to`. */
  makeRoom(count: number): void {
    if (this.to + count > TURN_BYTES) this.end();
  }

  /** The system has not taken all of a write: what is in `bytes` must not be overwritten. */
  keep(): void {
    this.#isKept = true;
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
    this.to = 0;
    if (this.#isKept) this.bytes = Buffer.allocUnsafeSlow(TURN_BYTES);
    this.#isKept = false;
  }
}

export const turn = new Turn();
