import type { CompiledEdge } from './compile.ts';
import type { EdgeConfig } from './document/schema.ts';
import { Extension, type ExtensionChange } from './extension.ts';
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
  /** Changes the parts that others add. */
  readonly extend: (change: ExtensionChange) => void;
}

/** Starts with the first configuration, which is active; `activated` is called after each change. */
export function swapsOf<Config extends Swappable>(
  runtime: EdgeRuntime,
  first: Config,
  activated: (compiled: CompiledEdge, config: Config) => void,
): Swaps<Config> {
  let current = first;
  let extension = Extension.of(first.config, isPooledIn(first));
  const parts = new Set<EdgeConfig>();
  /** The number of changes of the parts. */
  let changes = 0;

  function activate(next: Config, further: Extension): void {
    runtime.swap(further.config);
    current = next;
    extension = further;
    activated(runtime.current(), next);
  }

  function swap(next: Config): void {
    const added = Array.from(parts, restrictedBy(next));
    activate(next, Extension.of(next.config, isPooledIn(next)).with({ added }));
  }

  return {
    current: () => current,
    swapTo: (next) => {
      const before = { compiled: runtime.current(), config: current, extension, changes };
      swap(next);
      return () => {
        // Agents may have come and gone meanwhile.
        if (changes !== before.changes) return swap(before.config);
        runtime.restore(before.compiled);
        current = before.config;
        extension = before.extension;
        return activated(before.compiled, before.config);
      };
    },
    extend: ({ added = [], removed = [] }) => {
      const restrict = restrictedBy(current);
      activate(current, extension.with({ added: added.map(restrict), removed: removed.map(restrict) }));
      for (const part of added) parts.add(part);
      for (const part of removed) parts.delete(part);
      changes++;
    },
  };
}

function restrictedBy({ restrict = (part) => part }: Swappable): (part: EdgeConfig) => EdgeConfig {
  return (part) => restrict(part);
}

function isPooledIn({ pooled }: Swappable): (edge: string) => boolean {
  return (edge) => pooled?.has(edge) === true;
}
