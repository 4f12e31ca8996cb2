import { type CompileOptions, type CompiledEdge, compileEdge } from '../edge/compile.ts';
import { type CompileCache, compileCache } from '../edge/compile_cache.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { extended } from '../edge/extension.ts';
import { FilterStateStore, type TakeState } from '../edge/filter_state.ts';

/** What edges of configurations that share most objects have in common, so that only what differs is compiled. */
export interface SharedParts {
  /** Replaced when a state cannot be reset. */
  cache: CompileCache;
  /** How each state begins. */
  readonly beginnings: WeakMap<object, () => unknown>;
  readonly changed: Set<unknown>;
}

export function sharedParts(): SharedParts {
  return { cache: compileCache(), beginnings: new WeakMap(), changed: new Set() };
}

/** An edge that is compiled once, and that can be put back into its initial state. */
export class ResettableEdge {
  readonly #config: EdgeConfig;
  readonly #options: Omit<CompileOptions, 'cache'>;
  readonly #parts: SharedParts;
  #compiled: CompiledEdge | null = null;
  #states = new FilterStateStore();
  /** With which it was compiled. */
  #cache: CompileCache | null = null;

  constructor(config: EdgeConfig, options: Omit<CompileOptions, 'cache'>, parts = sharedParts()) {
    this.#config = config;
    this.#options = options;
    this.#parts = parts;
  }

  /** The edge without further parts, in its initial state. */
  fresh(): CompiledEdge {
    const { changed, beginnings } = this.#parts;
    for (const state of changed) {
      const initial = beginnings.get(state as object);
      if (initial === undefined || !isPutBack(state, initial())) this.#parts.cache = compileCache();
    }
    changed.clear();
    if (this.#compiled !== null && this.#cache === this.#parts.cache) return this.#compiled;
    this.#states = new FilterStateStore();
    this.#cache = this.#parts.cache;
    return (this.#compiled = this.extended([]));
  }

  /** The edge with further parts; unchanged parts keep their state. */
  extended(parts: readonly EdgeConfig[]): CompiledEdge {
    const { cache, beginnings } = this.#parts;
    const config = extended(this.#config, parts);
    const options = { ...this.#options, cache };
    return this.#states.swapped((take) => compileEdge(config, notingBeginnings(take, beginnings), options));
  }

  release(): void {
    this.#compiled = null;
    this.#parts.cache = compileCache();
    this.#cache = null;
  }

  /** A state may have changed. */
  touched(state: unknown): void {
    this.#parts.changed.add(state);
  }
}

/**
 * Notes how each state begins. Compiled parts hold this function, and fixtures share parts. It is not a method's closure, because that
 * would hold the edge: every edge that compiled a part would stay in memory with it.
 */
function notingBeginnings(take: TakeState, beginnings: SharedParts['beginnings']): TakeState {
  return (route, module, of, initial) => {
    const state = take(route, module, of, initial);
    // A part that was compiled before gives its present state as the initial one.
    if (typeof state === 'object' && state !== null && !beginnings.has(state)) beginnings.set(state, initial);
    return state;
  };
}

/** Resets a state in place to the content of a new one; false if its type does not allow this. */
function isPutBack(state: unknown, fresh: unknown): boolean {
  if (Array.isArray(state) && Array.isArray(fresh)) {
    state.length = 0;
    for (const item of fresh) state.push(item);
    return true;
  }
  if (!isPlain(state) || !isPlain(fresh)) return false;
  for (const key of Object.keys(state)) if (!Object.hasOwn(fresh, key)) delete state[key];
  Object.assign(state, fresh);
  return true;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
