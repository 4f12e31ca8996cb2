/** Paths of the objects in plain data that are not frozen, without those of the members that are left out. */
export function unfrozen(value: unknown, leftOut: readonly string[] = []): string[] {
  const seen = new Set<unknown>();
  const below = (part: unknown, path: string): string[] => {
    if (typeof part !== 'object' || part === null || seen.has(part) || leftOut.includes(path)) return [];
    seen.add(part);
    const own = Object.isFrozen(part) ? [] : [path];
    return [...own, ...Object.entries(part).flatMap(([key, inner]) => below(inner, `${path}/${key}`))];
  };
  return below(value, '');
}
