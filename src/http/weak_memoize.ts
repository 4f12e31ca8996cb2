/** Objects seen lately that may come again. */
const LATELY = 16;
const NOTHING: object = {};

/**
 * Remembers what was made of an object, by which object it is and not by what it holds: readers of heads give one list
 * of fields to all heads of the same bytes. Of an object that does not come again nothing is kept. What is made is
 * shared by all who ask, so it is not theirs to change.
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
