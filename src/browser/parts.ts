/**
 * Parts of the engine that load after it. What is used of a part before it is there fails, and is noted: then all that was
 * decided so far is void, and is decided again when the part is there (`withParts`).
 */
import { LOADERS } from './part_loaders.ts';

const missed = new Set<string>();
const taking = new Map<string, ((own: object) => void)[]>();
/** Exports of the parts that are loaded. */
const there = new Map<string, object>();

/** Can be called and constructed, as functions and classes of parts are. */
// oxlint-disable-next-line prefer-arrow-callback, func-style -- arrow functions cannot be constructed
const TARGET = function target(): void {
  // Nothing reaches it.
};

/** What takes the place of a function, a class or an object of a part; `find` returns it when it is there. */
export function standIn(part: string, find: () => object | undefined): object {
  const real = (): object => {
    const found = find();
    if (found !== undefined) return found;
    missed.add(part);
    throw new Error(`the part ${part} of the engine is not loaded yet`);
  };
  return new Proxy(TARGET, {
    get: (_, name) => Reflect.get(real(), name) as unknown,
    has: (_, name) => Reflect.has(real(), name),
    apply: (_, self, given: unknown[]) => Reflect.apply(real() as () => unknown, self, given) as unknown,
    construct: (_, given: unknown[]) => Reflect.construct(real() as new () => object, given) as object,
  });
}

/** Called by stand-ins: `take` gets what the file of a part has. */
export function onLoaded(part: string, file: string, take: (own: never) => void): void {
  const key = `${part} ${file}`;
  const own = there.get(key);
  // A stand-in may itself be in a part that loads later.
  if (own !== undefined) take(own as never);
  else taking.set(key, [...(taking.get(key) ?? []), take as (own: object) => void]);
}

const begun = new Map<string, Promise<void>>();

function loaded(part: string): Promise<void> {
  const known = begun.get(part);
  if (known !== undefined) return known;
  const loading = load(part);
  begun.set(part, loading);
  return loading;
}

async function load(part: string): Promise<void> {
  try {
    for (const [file, own] of Object.entries(await LOADERS[part]!())) {
      const key = `${part} ${file}`;
      there.set(key, own);
      for (const take of taking.get(key) ?? []) take(own);
      taking.delete(key);
    }
  } catch (error) {
    // The next use tries again.
    begun.delete(part);
    throw error;
  }
}

/** Loads all parts. */
export async function loadParts(): Promise<void> {
  await Promise.all(Object.keys(LOADERS).map(loaded));
}

/** Does something that may need parts; it is done again when those that were missing are there. */
export async function withParts<Result>(run: () => Promise<Result>): Promise<Result> {
  for (;;) {
    missed.clear();
    const [outcome] = await Promise.allSettled([Promise.resolve().then(run)]);
    if (missed.size > 0) await Promise.all(Array.from(missed, loaded));
    else if (outcome.status === 'fulfilled') return outcome.value;
    else throw outcome.reason;
  }
}
