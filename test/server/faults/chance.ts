import { seeded } from '../../random.ts';

/** Random choices of one case: its seed determines all of them. */
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

/** After pending work, or some ms later. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
