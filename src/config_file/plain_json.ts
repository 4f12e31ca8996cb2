/** Maximum nesting: files need about a dozen levels, and the reader of YAML accepts no more. */
const DEPTH_LIMIT = 64;

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
  // Of a key that occurs twice only one is in the value. The first count also has those of strings, but seldom any.
  return text.match(KEY_END)?.length === keys || colonsIn(text) === keys ? value : null;
}

const KEY_END = /"[ \t\n\r]*:/g;

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];

/** Number of colons between keys and values in a text of JSON. */
function colonsIn(text: string): number {
  let colons = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) inString = !inString;
    else if (inString) at += unit === BACKSLASH ? 1 : 0;
    else if (unit === COLON) colons++;
  }
  return colons;
}

/** Number of keys on all levels; null for values that are nested too deeply or would have another prototype. */
function keysIn(value: unknown, depth = 0): number | null {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= DEPTH_LIMIT) return null;
  if (Array.isArray(value)) {
    let count = 0;
    for (const each of value) {
      const below = keysIn(each, depth + 1);
      if (below === null) return null;
      count += below;
    }
    return count;
  }
  const keys = Object.keys(value);
  let count = keys.length;
  for (const key of keys) {
    const below = key === '__proto__' ? null : keysIn((value as Record<string, unknown>)[key], depth + 1);
    if (below === null) return null;
    count += below;
  }
  return count;
}
