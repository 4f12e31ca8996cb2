const SIZE = 1 << 15;

/**
 * Results by up to four small integers. A result may take the place of another one, so the memory is bounded; what
 * was displaced is computed again.
 */
export class ResultCache<Result> {
  readonly #keys = new Int32Array(4 * SIZE);
  readonly #results: (Result | undefined)[] = Array.from({ length: SIZE });

  get(a: number, b: number, c = 0, d = 0): Result | undefined {
    const slot = slotOf(a, b, c, d);
    const keys = this.#keys;
    const at = 4 * slot;
    const isFound = keys[at] === a && keys[at + 1] === b && keys[at + 2] === c && keys[at + 3] === d;
    return isFound ? this.#results[slot] : undefined;
  }

  set(result: Result, a: number, b: number, c = 0, d = 0): void {
    const slot = slotOf(a, b, c, d);
    const keys = this.#keys;
    const at = 4 * slot;
    keys[at] = a;
    keys[at + 1] = b;
    keys[at + 2] = c;
    keys[at + 3] = d;
    this.#results[slot] = result;
  }
}

/** Multipliers are odd and spread neighbouring numbers over the slots. */
function slotOf(a: number, b: number, c: number, d: number): number {
  const mixed =
    Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f);
  return (mixed ^ (mixed >>> 15)) & (SIZE - 1);
}
