import type { DiffLine } from '../wire.ts';

/** Cells of the table below; larger differences are shown as all removed and all added. */
const MAX_CELLS = 4_000_000;
/** Lines that did not change, shown around those that did. */
const CONTEXT = 3;

/** The lines that differ between two texts, with three lines around them. */
export function lineDifferences(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (from: number, to: number): DiffLine[] =>
    now
      .slice(Math.max(0, from), to)
      .map((text, index) => ({ change: 'same', at: Math.max(0, from) + index + 1, text }));
  const middle = between(old.slice(start, old.length - end), now.slice(start, now.length - end), start);
  if (middle.length === 0) return [];
  return [...same(start - CONTEXT, start), ...middle, ...same(now.length - end, now.length - end + CONTEXT)];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** The longest common subsequence of lines, by dynamic programming. */
function between(old: readonly string[], now: readonly string[], offset: number): DiffLine[] {
  const removed = (index: number): DiffLine => ({
    change: 'removed',
    at: offset + index + 1,
    text: old[index]!,
  });
  const added = (index: number): DiffLine => ({ change: 'added', at: offset + index + 1, text: now[index]! });
  const width = now.length + 1;
  if ((old.length + 1) * width > MAX_CELLS)
    return [...old.map((_, index) => removed(index)), ...now.map((_, index) => added(index))];
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ change: 'same', at: offset + j + 1, text: now[j]! });
      i++;
      j++;
    } else if (
      j >= now.length ||
      (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      lines.push(removed(i++));
    else lines.push(added(j++));
  }
  return lines;
}
