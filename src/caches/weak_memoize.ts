/**
 * Caches by identity: a result is kept as long as its object. They only suit objects that never change, such as
 * accepted configurations, which are frozen. Callers share the results.
 */

/** Computes a value for an object once. */
export function weakMemoize<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, Made>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const made = make(given);
    known.set(given, made);
    return made;
  };
}

interface Remembered<Circumstances, Made> {
  readonly circumstances: Circumstances;
  readonly made: Made;
}

/**
 * Computes a value for an object and its circumstances; computes it again when a circumstance differs from the last
 * call.
 */
export function weakMemoizeLast<Given extends object, Circumstances extends readonly unknown[], Made>(
  make: (given: Given, circumstances: Circumstances) => Made,
): (given: Given, circumstances: Circumstances) => Made {
  const known = new WeakMap<Given, Remembered<Circumstances, Made>>();
  return (given, circumstances) => {
    const before = known.get(given);
    if (before !== undefined && areSame(before.circumstances, circumstances)) return before.made;
    const made = make(given, circumstances);
    known.set(given, { circumstances, made });
    return made;
  };
}

/** Whether two lists have the same elements, by identity. */
export function areSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  if (before.length !== now.length) return false;
  for (let at = 0; at < now.length; at++) if (!Object.is(before[at], now[at])) return false;
  return true;
}
