import { weakMemoizeLast } from '../caches/weak_memoize.ts';
/** Returns the state of a handler: its previous one, or a new one. */
export type TakeState = (route: string, module: string, config: object, initial: () => unknown) => unknown;

/** The key of a state; an unchanged config is not serialised again. */
export const stateKey = weakMemoizeLast(
  (config: object, [route, module]: readonly [string, string]): string =>
    JSON.stringify([route, module, config]),
);

/**
 * The state that handlers keep between requests, preserved across configuration swaps: by route, module and config, so
 * that an unrelated edit resets nothing and a changed breaker starts afresh.
 */
export class FilterStateStore {
  private kept: ReadonlyMap<string, unknown> = new Map();

  /** Runs a compilation; the states that it takes are kept, the others dropped. Nothing changes when it throws. */
  swapped<Compiled>(compile: (take: TakeState) => Compiled): Compiled {
    const taken = new Map<string, unknown>();
    const compiled = compile((route, module, config, initial) => {
      const key = stateKey(config, [route, module]);
      const state = taken.get(key) ?? this.kept.get(key) ?? initial();
      taken.set(key, state);
      return state;
    });
    this.kept = taken;
    return compiled;
  }
}
