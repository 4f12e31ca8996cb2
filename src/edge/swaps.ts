import type { CompiledEdge } from './compile.ts';
import type { Steps } from '../config_file/steps.ts';
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
  /** Compiles another configuration on top of those that are staged; it is activated later, or dropped. */
  readonly stage: (next: Config) => Staged;
  /** Compiles the large parts of another configuration with pauses, for the next swap. */
  readonly ahead: (next: Config) => Steps<void>;
  /** Changes the parts that others add. */
  readonly extend: (change: ExtensionChange) => void;
}

/** A compiled configuration that is not active yet. */
export interface Staged {
  /** Activates it, unless a later one is active. */
  readonly activate: () => void;
  readonly drop: () => void;
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
  /** The last configuration that was compiled and waits. */
  let waiting: CompiledEdge | null = null;
  /** Configurations are activated in the order in which they were made. */
  let [made, active] = [0, 0];

  function activate(next: Config, further: Extension): void {
    runtime.swap(further.config);
    [current, extension] = [next, further];
    activated(runtime.current(), next);
  }

  function swap(next: Config): void {
    active = ++made;
    waiting = null;
    activate(next, extended(next, parts));
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
        ({ config: current, extension } = before);
        return activated(before.compiled, before.config);
      };
    },
    stage: (next) => {
      const number = ++made;
      const [before, atChanges] = [waiting, changes];
      const further = extended(next, parts);
      const compiled = runtime.compile(further.config, waiting ?? runtime.current());
      waiting = compiled;
      return {
        activate: () => {
          if (waiting === compiled) waiting = null;
          if (number < active) return;
          if (changes !== atChanges) return swap(next);
          active = number;
          runtime.restore(compiled);
          [current, extension] = [next, further];
          activated(compiled, next);
        },
        drop: () => {
          if (waiting === compiled) waiting = before;
        },
      };
    },
    ahead: (next) => runtime.ahead(extended(next, parts).config, waiting ?? runtime.current()),
    extend: ({ added = [], removed = [] }) => {
      const restrict = restrictedBy(current);
      activate(current, extension.with({ added: added.map(restrict), removed: removed.map(restrict) }));
      for (const part of added) parts.add(part);
      for (const part of removed) parts.delete(part);
      changes++;
    },
  };
}

/** A configuration with the parts that others have added. */
function extended(next: Swappable, parts: Iterable<EdgeConfig>): Extension {
  return Extension.of(next.config, isPooledIn(next)).with({ added: Array.from(parts, restrictedBy(next)) });
}

function restrictedBy({ restrict = (part) => part }: Swappable): (part: EdgeConfig) => EdgeConfig {
  return (part) => restrict(part);
}

function isPooledIn({ pooled }: Swappable): (edge: string) => boolean {
  return (edge) => pooled?.has(edge) === true;
}
