import { createRequire } from 'node:module';

/** Code that is loaded on first use. */
export interface LazyLoad<Loaded> {
  /** The loaded code; null before. */
  readonly now: () => Loaded | null;
  /**
   * Loads it once. A load that fails, for example because file descriptors ran out, is tried again by the next call.
   */
  readonly get: () => Promise<Loaded>;
  /** Waits for a load in progress; null when there is none, or when it fails. */
  readonly ifBegun: () => Promise<Loaded | null>;
}

/** Wraps a load so that its success is cached and its failure is not. */
export function lazyLoad<Loaded>(load: () => Promise<Loaded>): LazyLoad<Loaded> {
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;
  const begin = async (): Promise<Loaded> => {
    try {
      return (loaded = await load());
    } finally {
      if (loaded === null) loading = null;
    }
  };
  return {
    now: () => loaded,
    get: () => (loading ??= begin()),
    ifBegun: async () => {
      try {
        return await loading;
      } catch {
        return null;
      }
    },
  };
}

const require = createRequire(import.meta.filename);

/**
 * Loads CommonJS packages before a module that needs them is imported. Node caches the error of a failed import
 * forever, and a package that opens files may fail with EMFILE; a failed `require` is not cached.
 */
export function requireFirst(...packages: readonly string[]): void {
  for (const name of packages) require(name);
}
