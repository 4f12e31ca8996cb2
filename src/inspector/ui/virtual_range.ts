/** Which rows of a long list are in the page: values in, values out. */

export interface Range {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Rows beyond the visible ones on each side, so that a fast scroll shows no gap. */
const MARGIN = 6;

export function visibleRange(scrollTop: number, height: number, rowHeight: number, count: number): Range {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - MARGIN);
  const end = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + MARGIN);
  return { first: Math.min(first, end), end };
}

/** How many of the ascending numbers are at most `limit`. */
export function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
