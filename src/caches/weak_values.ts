/** Entries without a value are swept when the map has grown to twice its size after the last sweep. */
const FIRST_SWEEP = 1_024;

/**
 * Computes a value for a text, and shares it with equal texts for as long as it is in use elsewhere: the cache itself
 * keeps no value alive.
 */
export function weakValues<Made extends object>(make: (text: string) => Made): (text: string) => Made {
  const known = new Map<string, WeakRef<Made>>();
  let sweepAt = FIRST_SWEEP;
  return (text) => {
    const before = known.get(text)?.deref();
    if (before !== undefined) return before;
    const made = make(text);
    known.set(text, new WeakRef(made));
    if (known.size >= sweepAt) {
      for (const [each, reference] of known) if (reference.deref() === undefined) known.delete(each);
      sweepAt = Math.max(FIRST_SWEEP, 2 * known.size);
    }
    return made;
  };
}
