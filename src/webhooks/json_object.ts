export type JsonObject = Readonly<Record<string, unknown>>;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON object; null if the bytes are not one, or if a top-level member occurs twice: parsers differ
 * in which one they use, so the upstream could read another value than the verified one.
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

/** The member at a dotted path, or undefined. */
export function memberAt(object: JsonObject, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Whether valid JSON repeats a member of its outermost object; escapes are decoded. */
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
