/**
 * What makes a text something other than JSON, with its place, from V8's error about it. V8 says either where the
 * problem is or what is around it. The latter is left out, because it may be a secret.
 */
export function jsonProblem(text: string, { message }: SyntaxError): string {
  if (message.startsWith('Unexpected end ') || / at position \d+ \(/.test(message)) return message;
  const at = unexpectedToken(text);
  if (at === null) return 'Unexpected token in JSON';
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  return `Unexpected token in JSON at position ${at} (line ${lineOf(text, at)} column ${at - lineStart + 1})`;
}

const TOKEN = /"(?:[^"\\]|\\[^])*"|[-+.\w]+|[[\]{},:]/y;
const SPACE = /[ \t\n\r]*/y;
const SCALAR = /^(?:"|-?\d|(?:true|false|null)$)/;

/** Tokens that are read, which takes some 30 ms: a body has fewer, unless it would be refused as too large. */
const TOKEN_LIMIT = 100_000;

/** Offset of the first token that neither is a value nor may be there in its place; null if it comes too late. */
function unexpectedToken(text: string): number | null {
  let isValueNext = true;
  let last = '';
  let at = 0;
  for (let count = 0; count < TOKEN_LIMIT; count++) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)![0].length;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return at;
    const isValue = token === '[' || token === '{' || SCALAR.test(token);
    if (isValueNext && !isValue && !(last === '[' && token === ']')) return at;
    isValueNext = token === '[' || token === ',' || token === ':';
    last = token;
    at += token.length;
  }
  return null;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
