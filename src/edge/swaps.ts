import type { CompiledEdge } from './compile.ts';
import type { EdgeConfig } from './document/schema.ts';
import { extended } from './extension.ts';
import type { EdgeRuntime } from './runtime.ts';

/** A configuration that can be activated. */
interface Swappable {
  readonly config: EdgeConfig;
  /** What the account imposes on parts that agents add; by default nothing. */
  readonly restrict?: (parts: EdgeConfig) => EdgeConfig;
  /** Names of the cloud endpoints that share their hosts with others; by default none. */
  readonly pooled?: ReadonlySet<string>;
}

/** The configuration of the operator, and the parts that others add to it. */
export interface Swaps<Config extends Swappable> {
  readonly current: () => Config;
  /** Activates another configuration; returns what activates the present one again. */
  readonly swapTo: (next: Config) => () => void;
  /** Replaces the parts that others add. */
  readonly extend: (parts: readonly EdgeConfig[]) => void;
}

/** Starts with the first configuration, which is active; `activated` is called after each change. */
export function swapsOf<Config extends Swappable>(
  runtime: EdgeRuntime,
  first: Config,
  activated: (compiled: CompiledEdge, config: Config) => void,
): Swaps<Config> {
  let current = first;
  let parts: readonly EdgeConfig[] = [];

  function swap(next: Config, further: readonly EdgeConfig[]): void {
    const { restrict, pooled } = next;
    const added = restrict === undefined ? further : further.map(restrict);
    runtime.swap(extended(next.config, added, (name) => pooled?.has(name) === true));
    current = next;
    parts = further;
    activated(runtime.current(), next);
  }

  return {
    current: () => current,
    swapTo: (next) => {
      const before = { compiled: runtime.current(), config: current, parts };
      swap(next, parts);
      return () => {
        // Agents may have come and gone meanwhile.
        if (parts !== before.parts) return swap(before.config, parts);
        runtime.restore(before.compiled);
        current = before.config;
        return activated(before.compiled, before.config);
      };
    },
    extend: (further) => swap(current, further),
  };
}
