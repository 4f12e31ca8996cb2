export type JsonObject = Readonly<Record<string, unknown>>;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The bytes as a JSON object, or null when they are not one. An object that names a top-level member twice is
 * null too: parsers differ in which they take, so what was verified would not be what the upstream reads.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | null {
  try {
    const text = UTF8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return hasRepeatedMember(text) ? null : (value as JsonObject);
  } catch {
    return null;
  }
}

/** The member at a path by dots, or undefined. */
export function memberAt(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Whether a text that is valid JSON names a member of its outermost object twice, escapes decoded. */
function hasRepeatedMember(text: string): boolean {
  const seen = new Set<string>();
  let depth = 0;
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ':' && depth === 1) {
      const name = JSON.parse(last) as string;
      if (seen.has(name)) return true;
      seen.add(name);
    }
    last = token;
  }
  return false;
}
