/** Deeper levels are not indented further: the text stays in proportion to its source. */
const DEEPEST_INDENT = 40;

/**
 * JSON with line breaks and indents, however deep it is and even if its end is missing: the tokens stay as they are,
 * only the space between them changes. Null for texts that do not begin like JSON.
 */
export function indentedJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const parts: string[] = [];
  let depth = 0;
  const newLine = (): string => `\n${'  '.repeat(Math.min(depth, DEEPEST_INDENT))}`;
  const tokens = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs;
  let before = '';
  for (const [token] of text.matchAll(tokens)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth = Math.max(0, depth - 1);
    if (before === '{' || before === '[') {
      if (!isEnd) parts.push(newLine());
    } else if (before === ',' || isEnd) parts.push(newLine());
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return parts.join('');
}
