const FIRST_SIZE = 1 << 8;
const LARGEST_SIZE = 1 << 15;

/**
 * Results by up to four small integers. A result may take the place of another one, so the memory is bounded; what
 * was displaced is computed again.
 */
export class ResultCache<Result> {
  // Most configurations need few results, and to make an empty cache of the largest size takes milliseconds.
  #size = FIRST_SIZE;
  #keys = new Int32Array(4 * FIRST_SIZE);
  #results = noResults<Result>(FIRST_SIZE);
  #writes = 0;

  get(a: number, b: number, c = 0, d = 0): Result | undefined {
    const slot = hashOf(a, b, c, d) & (this.#size - 1);
    const keys = this.#keys;
    const at = 4 * slot;
    const isFound = keys[at] === a && keys[at + 1] === b && keys[at + 2] === c && keys[at + 3] === d;
    return isFound ? this.#results[slot] : undefined;
  }

  set(result: Result, a: number, b: number, c = 0, d = 0): void {
    if (++this.#writes > this.#size && this.#size < LARGEST_SIZE) this.#grow();
    this.#write(result, a, b, c, d);
  }

  #write(result: Result, a: number, b: number, c: number, d: number): void {
    const slot = hashOf(a, b, c, d) & (this.#size - 1);
    const keys = this.#keys;
    const at = 4 * slot;
    keys[at] = a;
    keys[at + 1] = b;
    keys[at + 2] = c;
    keys[at + 3] = d;
    this.#results[slot] = result;
  }

  #grow(): void {
    const [keys, results] = [this.#keys, this.#results];
    this.#size = Math.min(4 * this.#size, LARGEST_SIZE);
    this.#keys = new Int32Array(4 * this.#size);
    this.#results = noResults(this.#size);
    for (const [slot, result] of results.entries()) {
      if (result === undefined) continue;
      const at = 4 * slot;
      this.#write(result, keys[at]!, keys[at + 1]!, keys[at + 2]!, keys[at + 3]!);
    }
  }
}

function noResults<Result>(size: number): (Result | undefined)[] {
  return Array.from({ length: size });
}

/** Multipliers are odd and spread neighbouring numbers over the slots. */
function hashOf(a: number, b: number, c: number, d: number): number {
  const mixed =
    Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f);
  return mixed ^ (mixed >>> 15);
}
