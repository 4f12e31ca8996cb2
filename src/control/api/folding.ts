/** Maps of header names, which case-folding clients change. */
const HEADER_MAPS: ReadonlySet<string> = new Set(['add', 'headers']);

/**
 * Reverts how the published SDK changes keys of maps: it sends `X-Foo-Bar` as `_x-_foo-_bar`. Only header
 * names contain capitals.
 */
export function unfolded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unfolded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      HEADER_MAPS.has(key) ? unfoldedNames(each) : unfolded(each),
    ]),
  );
}

function unfoldedNames(map: unknown): unknown {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return unfolded(map);
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
