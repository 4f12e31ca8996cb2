const MAX_WORD = 64;

/**
 * The candidate that a mistyped word most likely means, or undefined if none is close. Close means at most one
 * edit for every three letters, and at least one; letter case is ignored. Of equally close candidates the first
 * wins. If none is close, a single candidate that contains the word is taken: `prefix` means `path_prefix`.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  // Another number is another value, not another spelling.
  if (word.length > MAX_WORD || /^[\d.]*$/.test(word)) return undefined;
  const typed = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length);
    const allowed = Math.max(1, Math.floor(longer / 3));
    if (candidate === word || longer > MAX_WORD) continue;
    // A candidate that shares no letter with the word would be a guess, not a correction.
    const most = Math.min(allowed, longer - 1, bestDistance - 1);
    if (Math.abs(word.length - candidate.length) > most) continue;
    const distance = editDistance(typed, candidate.toLowerCase(), most);
    if (distance > most) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best ?? onlyHolder(typed, candidates);
}

const MIN_PART = 4;

function onlyHolder(typed: string, candidates: readonly string[]): string | undefined {
  if (typed.length < MIN_PART) return undefined;
  const holders = candidates.filter((candidate) => candidate.toLowerCase().includes(typed));
  return holders.length === 1 && holders[0]!.toLowerCase() !== typed ? holders[0] : undefined;
}

/**
 * The edit distance of two words: insertions, deletions, replacements and swaps of neighbours (optimal string
 * alignment). Of words that are further apart than `most`, some number above it: thousands of names may be compared with
 * thousands of others.
 */
export function editDistance(one: string, other: string, most = Infinity): number {
  if (one === other) return 0;
  if (most < 1) return 1;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let [end, otherEnd] = [one.length, other.length];
  while (end > start && otherEnd > start && one[end - 1] === other[otherEnd - 1]) {
    end--;
    otherEnd--;
  }
  return distanceOf(one.slice(start, end), other.slice(start, otherEnd), most);
}

/** The distance by the rows of a table, without the cells that are further than `most` from its diagonal. */
function distanceOf(one: string, other: string, most: number): number {
  const width = other.length;
  if (Math.abs(one.length - width) > most) return Infinity;
  let beforeLast: number[] = [];
  let last: number[] = [];
  let current: number[] = [];
  for (let column = 0; column <= width; column++) last.push(column);
  let leastOfLast = 0;
  for (let row = 1; row <= one.length; row++) {
    const first = Math.max(1, row - most);
    const end = Math.min(width, row + most);
    let leastOfRow = first === 1 ? row : Infinity;
    current[first - 1] = leastOfRow;
    for (let column = first; column <= end; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current[column] = least;
      leastOfRow = Math.min(leastOfRow, least);
    }
    current[end + 1] = Infinity;
    // A swap continues from the row before.
    if (leastOfRow > most && leastOfLast > most) return leastOfRow;
    leastOfLast = leastOfRow;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[width]!;
}
