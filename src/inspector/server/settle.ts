import type { Configuration } from '../../engine/exchange.ts';
import type { Kept } from './kept.ts';
import type { Store } from './store.ts';

/** How long one slice may hold the process. */
const SLICE_MS = 4;

/**
 * Converts finished exchanges of earlier configurations to plain data, in slices, so that those configurations are not
 * kept in memory.
 */
export function settleInSlices(store: Store, current: Configuration, settle: (kept: Kept) => void): void {
  const all = store
    .list()
    .filter(({ live }) => live !== null && live.configuration !== current)
    .values();
  const slice = (): void => {
    const since = performance.now();
    for (const kept of all) {
      if (kept.isDone) settle(kept);
      if (performance.now() - since < SLICE_MS) continue;
      setImmediate(slice);
      return;
    }
  };
  slice();
}
