import { setImmediate } from 'node:timers/promises';

/** How long work over many things may take in one turn of the event loop, in which the edge serves, too. */
const TURN_MS = 5;

/** Ends turns of the event loop during long work. */
export interface Turns {
  /** Whether this turn has lasted long enough; `next` waits for another. */
  readonly isOver: () => boolean;
  readonly next: () => Promise<void>;
}

export function turns(): Turns {
  let until = performance.now() + TURN_MS;
  return {
    isOver: () => performance.now() > until,
    next: async () => {
      await setImmediate();
      until = performance.now() + TURN_MS;
    },
  };
}

/** The index of the first of many elements that fits, or -1; found in turns of the event loop. */
export async function indexInTurns<Each>(
  all: readonly Each[],
  fits: (each: Each) => boolean,
): Promise<number> {
  const turn = turns();
  for (const [index, each] of all.entries()) {
    if (turn.isOver()) await turn.next();
    if (fits(each)) return index;
  }
  return -1;
}
