/** Number of recent objects that are watched for repetition. */
const LATELY = 16;
const NOTHING: object = {};

/**
 * Memoizes a function by the identity of its argument, not by its contents: the codec returns the same list
 * of fields for heads with the same bytes. Nothing is kept for an object that does not recur. Callers share
 * the result and must not change it.
 */
export function weakMemoize<Given extends object, Made>(
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
