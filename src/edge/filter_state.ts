import { weakMemoizeLast } from '../caches/weak_memoize.ts';
/** Gives the state of a handler: the one it had, or a new one. */
export type TakeState = (route: string, module: string, config: object, initial: () => unknown) => unknown;

/** The key of a state; a config that is the same object as before is not written out again. */
const keyOf = weakMemoizeLast((config: object, [route, module]: readonly [string, string]): string =>
  JSON.stringify([route, module, config]),
);

/**
 * What handlers remember between requests, kept across configuration swaps: by route, module and config,
 * so that an edit elsewhere resets nothing and a changed breaker starts afresh.
 */
export class FilterStateStore {
  private kept: ReadonlyMap<string, unknown> = new Map();

  /** Runs a compilation; what it takes is kept, the rest forgotten. Nothing changes when it throws. */
  swapped<Compiled>(compile: (take: TakeState) => Compiled): Compiled {
    const taken = new Map<string, unknown>();
    const compiled = compile((route, module, config, initial) => {
      const key = keyOf(config, [route, module]);
      const state = taken.get(key) ?? this.kept.get(key) ?? initial();
      taken.set(key, state);
      return state;
    });
    this.kept = taken;
    return compiled;
  }
}
