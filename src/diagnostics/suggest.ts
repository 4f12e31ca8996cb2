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
    if (Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = editDistance(typed, candidate.toLowerCase());
    // A candidate that shares no letter with the word would be a guess, not a correction.
    if (distance > allowed || distance >= longer || distance >= bestDistance) continue;
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
 * alignment).
 */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length]!;
}
