import { createRequire } from 'node:module';

/** Code that is loaded when it is first needed. */
export interface LazyLoad<Loaded> {
  /** What was loaded; null before. */
  readonly now: () => Loaded | null;
  /** Loads it, once. A load that fails, for example because descriptors are exhausted, is repeated by the next call. */
  readonly get: () => Promise<Loaded>;
  /** Waits for a load that has begun; null when none has, or when it fails. */
  readonly ifBegun: () => Promise<Loaded | null>;
}

/** Wraps a load so that its success is kept and its failure is not. */
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
 * Loads CommonJS packages before a module is imported that needs them. Node keeps the error of an import whose
 * evaluation failed for good, and a package that opens files then may meet EMFILE; a failed `require` is forgotten.
 */
export function requireFirst(...packages: readonly string[]): void {
  for (const name of packages) require(name);
}
