/** Work that pauses now and then: who runs it may do something else in between. It returns its result. */
export type Steps<Result> = Generator<void, Result>;

/** Rules or actions of a policy that are processed between two pauses: about a millisecond. */
export const PARTS_OF_STEP = 250;

/** Does the work at once. */
export function atOnce<Result>(work: Steps<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Goes through a list with a pause after each `PARTS_OF_STEP` items. */
export function* eachInSteps<Item>(items: Iterable<Item>, work: (item: Item) => void): Steps<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    if (++done % PARTS_OF_STEP === 0) yield;
  }
}
