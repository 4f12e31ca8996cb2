/** Returns the state of a handler: its previous one, or a new one. */
export type TakeState = (route: string, module: string, config: object, initial: () => unknown) => unknown;

interface Key {
  readonly route: string;
  readonly module: string;
  readonly text: string;
}

/** Keys by config, so that an unchanged config is not serialised again. */
const keys = new WeakMap<object, Key>();

function keyOf(route: string, module: string, config: object): string {
  const known = keys.get(config);
  if (known?.route === route && known.module === module) return known.text;
  const text = JSON.stringify([route, module, config]);
  keys.set(config, { route, module, text });
  return text;
}

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
      const key = keyOf(route, module, config);
      const state = taken.get(key) ?? this.kept.get(key) ?? initial();
      taken.set(key, state);
      return state;
    });
    this.kept = taken;
    return compiled;
  }
}
