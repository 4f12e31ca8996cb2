/** One operation of a history on one register. Times are of one clock, which all clients share. */
export interface Operation {
  readonly kind: 'write' | 'read';
  /** What was written, or read; null before the first write. Each write has a value of its own. */
  readonly value: string | null;
  readonly start: number;
  /** Infinity if no answer came, or one that does not say what happened: then a write may take effect at any time, or never. */
  readonly end: number;
}

/**
 * Whether the operations of one register have an order in which each takes effect between its start and its end, and each read
 * gives what was written last (Herlihy and Wing). Wing and Gong's search, with the positions that were tried remembered, as Lowe does.
 */
export function isLinearizable(history: readonly Operation[]): boolean {
  // Reads without an answer say nothing.
  const all = history.filter(({ kind, end }) => kind === 'write' || end < Infinity);
  const ops = all.toSorted((one, other) => one.start - other.start);
  const tried = new Set<string>();
  const done = new Uint8Array(ops.length);
  const search = (from: number, value: string | null): boolean => {
    let first = from;
    while (first < ops.length && done[first] === 1) first++;
    // What begins after the first end among those that are left cannot come before it.
    let bound = Infinity;
    for (let index = first; index < ops.length && ops[index]!.start <= bound; index++)
      if (done[index] === 0) bound = Math.min(bound, ops[index]!.end);
    if (bound === Infinity) return true;
    const ahead: number[] = [];
    const open: number[] = [];
    for (let index = first; index < ops.length && ops[index]!.start <= bound; index++)
      (done[index] === 1 ? ahead : open).push(index);
    const position = `${first} ${ahead.join()} ${value}`;
    if (tried.has(position)) return false;
    tried.add(position);
    return open.some((index) => {
      const { kind, value: own } = ops[index]!;
      if (kind === 'read' && own !== value) return false;
      done[index] = 1;
      const isFound = search(first, kind === 'write' ? own : value);
      done[index] = 0;
      return isFound;
    });
  };
  return search(0, null);
}
