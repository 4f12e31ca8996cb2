export type JsonObject = Readonly<Record<string, unknown>>;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** More values than the messages of any provider have. Parsing millions of them would hold up other requests. */
const VALUES_LIMIT = 100_000;

/**
 * Parses a JSON object; null if the bytes are not one, if it has too many values, or if a top-level member
 * occurs twice: parsers differ in which one they use, so the upstream could read another value than the
 * verified one.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | null {
  try {
    const text = UTF8.decode(bytes);
    if (!isPlainObject(text)) return null;
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : null;
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

/** Whether JSON is small enough and does not repeat a member of its outermost object; escapes are decoded. */
function isPlainObject(text: string): boolean {
  const seen = new Set<string>();
  let depth = 0;
  let values = 0;
  let name = '';
  for (let at = 0; at < text.length && values <= VALUES_LIMIT; at++) {
    const character = text[at]!;
    if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1) name = text.slice(at, end);
      at = end - 1;
    } else if (character === '{' || character === '[') {
      depth++;
      values++;
    } else if (character === '}' || character === ']') depth--;
    else if (character === ',') values++;
    else if (character === ':' && depth === 1) {
      const member = JSON.parse(name) as string;
      if (seen.has(member)) return false;
      seen.add(member);
    }
  }
  return values <= VALUES_LIMIT;
}

/** The position after the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
