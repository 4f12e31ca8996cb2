/** A line of a difference; `at` is its number in the new text, for removed lines in the old one. */
export interface LineChange {
  readonly change: 'same' | 'added' | 'removed';
  readonly at: number;
  readonly text: string;
}

/** Beyond so many cells the middle is shown as removed and added. */
const MOST_CELLS = 1_000_000;

/** The lines of two texts with the fewest changes: the longest common subsequence between their equal ends. */
export function lineChanges(before: string, after: string): LineChange[] {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let tail = 0;
  while (
    tail < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail++;
  const same = (at: number): LineChange => ({ change: 'same', at: at + 1, text: now[at]! });
  return [
    ...now.slice(0, start).map((_, at) => same(at)),
    ...middleChanges(old.slice(start, old.length - tail), now.slice(start, now.length - tail), start),
    ...now.slice(now.length - tail).map((_, at) => same(now.length - tail + at)),
  ];
}

function middleChanges(old: readonly string[], now: readonly string[], start: number): LineChange[] {
  const width = now.length + 1;
  const isLarge = (old.length + 1) * width > MOST_CELLS;
  const lengths = new Uint32Array(isLarge ? 0 : (old.length + 1) * width);
  for (let row = isLarge ? -1 : old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        old[row] === now[column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!);
  const lines: LineChange[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    const isSame = !isLarge && row < old.length && column < now.length && old[row] === now[column];
    const isRemoved =
      row < old.length &&
      (column >= now.length ||
        isLarge ||
        lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!);
    if (isSame) lines.push({ change: 'same', at: start + column + 1, text: now[column]! });
    else if (isRemoved) lines.push({ change: 'removed', at: start + row + 1, text: old[row]! });
    else lines.push({ change: 'added', at: start + column + 1, text: now[column]! });
    if (isSame || isRemoved) row++;
    if (isSame || !isRemoved) column++;
  }
  return lines;
}
