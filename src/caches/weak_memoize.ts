/**
 * Caches by identity: what was made of an object is kept as long as the object is. They hold for objects that never
 * change, such as accepted configurations, which are frozen. What is made is shared by all who ask.
 */

/** Makes something of an object once. */
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

/** Makes something of an object and of circumstances: again when one of them is another than the last time. */
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
  return before.length === now.length && before.every((each, index) => Object.is(each, now[index]));
}

/** Objects seen lately that may come again. */
const LATELY = 16;
const NOTHING: object = {};

/**
 * Makes something of an object, and keeps it from the second time on: readers of heads give one list of fields to all
 * heads of the same bytes, and most heads do not come again.
 */
export function weakMemoizeRecurring<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, Made>();
  const lately: object[] = Array.from({ length: LATELY }, () => NOTHING);
  let oldest = 0;
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const made = make(given);
    if (lately.includes(given)) known.set(given, made);
    else lately[oldest++ % LATELY] = given;
    return made;
  };
}
