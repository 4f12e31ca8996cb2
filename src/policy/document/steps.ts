/** Work that pauses now and then: who runs it may do something else in between. It returns its result. */
export type Steps<Result> = Generator<void, Result>;

/** Rules that are processed between two pauses: about a millisecond. */
export const RULES_OF_STEP = 250;

/** Does the work at once. */
export function atOnce<Result>(work: Steps<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
