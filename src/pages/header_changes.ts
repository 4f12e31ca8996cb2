/** How the header of a request or response differs after the edge: values in, values out. */

export interface HeaderLine {
  readonly name: string;
  readonly value: string;
  /** `removed` lines are in the first list only, `added` ones in the second only. */
  readonly change: 'same' | 'added' | 'removed';
}

const keyOf = (list: readonly string[], at: number): string => `${list[at]!.toLowerCase()}\n${list[at + 1]!}`;

/** The lines of `after` in their order, and before them what `before` has more; names are compared without case. */
export function headerChanges(before: readonly string[], after: readonly string[]): HeaderLine[] {
  const left = new Map<string, number>();
  for (let at = 0; at + 1 < before.length; at += 2) {
    const key = keyOf(before, at);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  const lines: HeaderLine[] = [];
  for (let at = 0; at + 1 < after.length; at += 2) {
    const key = keyOf(after, at);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    lines.push({ name: after[at]!, value: after[at + 1]!, change: count > 0 ? 'same' : 'added' });
  }
  const removed: HeaderLine[] = [];
  for (let at = 0; at + 1 < before.length; at += 2) {
    const key = keyOf(before, at);
    const count = left.get(key) ?? 0;
    if (count === 0) continue;
    left.set(key, count - 1);
    removed.push({ name: before[at]!, value: before[at + 1]!, change: 'removed' });
  }
  return merged(lines, removed);
}

/** A removed line goes before the added one of the same name, so that a changed value is read at one place. */
function merged(lines: readonly HeaderLine[], removed: readonly HeaderLine[]): HeaderLine[] {
  const waiting = new Map<string, HeaderLine[]>();
  for (const line of removed) {
    const name = line.name.toLowerCase();
    waiting.set(name, [...(waiting.get(name) ?? []), line]);
  }
  const all = lines.flatMap((line) => {
    if (line.change !== 'added') return [line];
    const own = waiting.get(line.name.toLowerCase()) ?? [];
    waiting.delete(line.name.toLowerCase());
    return [...own, line];
  });
  return [...all, ...[...waiting.values()].flat()];
}
