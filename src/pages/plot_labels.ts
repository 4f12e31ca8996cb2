/** Where names of marks are written above a plot. */

export interface Label {
  /** Of its mark. */
  readonly at: number;
  readonly width: number;
}

export interface LabelPlace {
  readonly left: number;
  /** From the plot upwards: 0 or 1. */
  readonly row: number;
}

/** Rows above a plot. */
export const LABEL_ROWS = 2;

/**
 * Places for labels in ascending order, the lowest row first, so that none covers another or passes `right`; null for one
 * that has no room. A label is never cut: `app: 500` would become `app: 50`.
 */
export function labelPlaces(labels: readonly Label[], right: number, gap: number): (LabelPlace | null)[] {
  const ends = Array.from({ length: LABEL_ROWS }, () => -Infinity);
  return labels.map(({ at, width }) => {
    const left = Math.min(at, right - width);
    const row = ends.findIndex((end) => end <= left);
    if (row < 0) return null;
    ends[row] = left + width + gap;
    return { left, row };
  });
}
