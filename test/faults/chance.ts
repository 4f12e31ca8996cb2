import { seeded } from '../random.ts';

/** Chance of one case: whatever is decided in it is decided by its seed. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  is(share: number): boolean {
    return this.#next() < share;
  }
}

/** After what is under way, or some ms later. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
