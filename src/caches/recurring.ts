/**
 * Caches for lists of fields and what is made of them: the codec returns the same list for heads with the same bytes, and
 * what is made of such a list is kept with it. Most other lists are used once, and asking for them costs next to
 * nothing: what is kept is a property of the object, as looking objects up by identity takes longer than some of the work.
 */

/** What was made of an object: pairs of the function and its result. */
type Kept = unknown[];

const KEPT = Symbol('kept');

interface Recurring {
  readonly [KEPT]?: Kept;
}

/** More results than all functions make, two entries each: functions of former configurations leave theirs behind. */
const MOST = 32;

/** Declares that an object which never changes will be asked about again. */
export function markRecurring(given: object): void {
  if ((given as Recurring)[KEPT] !== undefined || !Object.isExtensible(given)) return;
  Object.defineProperty(given, KEPT, { value: [] });
}

/** Whether what is made of an object is kept. */
export function isRecurring(given: object): boolean {
  return (given as Recurring)[KEPT] !== undefined;
}

/**
 * Computes a value for an object each time, unless the object recurs: then the first result is kept with it, in the form that
 * `prepare` gives it for many uses.
 */
export function memoizeRecurring<Given extends object, Made>(
  make: (given: Given) => Made,
  prepare: (made: Made) => Made = (made) => made,
): (given: Given) => Made {
  let last: object = NOTHING;
  let oneBefore: object = NOTHING;
  return (given) => {
    const kept = (given as Recurring)[KEPT];
    if (kept !== undefined) return keptOf(kept, given, make, prepare);
    if (given === last || given === oneBefore) {
      // Drivers without a codec use one list for all responses.
      markRecurring(given);
      return keptOf((given as Recurring)[KEPT] ?? [], given, make, prepare);
    }
    oneBefore = last;
    last = given;
    return make(given);
  };
}

const NOTHING: object = {};

function keptOf<Given extends object, Made>(
  kept: Kept,
  given: Given,
  make: (given: Given) => Made,
  prepare: (made: Made) => Made,
): Made {
  for (let at = 0; at < kept.length; at += 2) if (kept[at] === make) return kept[at + 1] as Made;
  const made = prepare(make(given));
  if (typeof made === 'object' && made !== null) markRecurring(made);
  if (kept.length >= MOST) kept.length = 0;
  kept.push(make, made);
  return made;
}
