/** Maximum nesting: policies need about a dozen levels, and the reader of YAML accepts no more. */
const DEPTH_LIMIT = 64;

/** Strings, and the colons between keys and values. */
const STRINGS_AND_COLONS = /"(?:[^"\\]|\\.)*"|:/g;

/**
 * The value of a text that is a JSON object in which all is as it seems; otherwise null, also if a key occurs twice.
 * It takes a small part of the time that reading it as YAML takes, but knows no places.
 */
export function plainJson(text: string): object | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const keys = keysIn(value);
  if (keys === null) return null;
  let colons = 0;
  for (const [token] of text.matchAll(STRINGS_AND_COLONS)) if (token === ':') colons++;
  // Of a key that occurs twice only one is in the value.
  return colons === keys ? value : null;
}

/** Number of keys on all levels; null for values that are nested too deeply or would have another prototype. */
function keysIn(value: unknown, depth = 0): number | null {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > DEPTH_LIMIT || Object.hasOwn(value, '__proto__')) return null;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const each of Object.values(value)) {
    const below = keysIn(each, depth + 1);
    if (below === null) return null;
    count += below;
  }
  return count;
}
