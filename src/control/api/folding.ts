/** Maps of headers, whose names a folding client has changed. */
const HEADER_MAPS: ReadonlySet<string> = new Set(['add', 'headers']);

/**
 * Undoes what the published SDK does to keys of maps: it writes `X-Foo-Bar` as `_x-_foo-_bar`. Only names of headers
 * have capitals; ids have none.
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
