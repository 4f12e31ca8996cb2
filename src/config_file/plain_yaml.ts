/**
 * A reader of the plain part of YAML: lists and maps by indentation, scalars and brackets within one line, and texts after
 * `|`. It takes a small part of the time that the library takes, and leaves every text with anything else to it.
 */

/** Maximum nesting. The full reader accepts a little more. */
const DEPTH_LIMIT = 60;

interface Reader {
  readonly text: string;
  /** Where the next part begins. */
  at: number;
  /** The column of `at`; -1 at the end of the text. */
  column: number;
}

/** The text has something that this reader does not know. */
class NotPlain extends Error {}

/** The value of a text that is a map in plain YAML; null for any other text, also if a key occurs twice. */
export function plainYaml(text: string): object | null {
  if (FOREIGN.test(text)) return null;
  const reader: Reader = { text, at: 0, column: 0 };
  try {
    toContent(reader, text.startsWith('---\n') ? 4 : 0);
    if (reader.column < 0 || isDash(reader)) return null;
    const value = map(reader, 0);
    return reader.column < 0 ? value : null;
  } catch {
    // Also escapes that JSON does not have, and nesting that exhausts the stack.
    return null;
  }
}

/** White space other than spaces and line feeds. */
const FOREIGN = /[\t\r\u0085\u00a0\u2028\u2029\ufeff]/;
/** A key that is the same text whatever it is read as, with its colon. */
const KEY = /(?:([A-Za-z0-9_/][\w./-]{0,200})|"([^"\\\n]{0,200})"|'([^'\n]{0,200})'):(?=[ \n]|$)/y;
const DOUBLE_QUOTED = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"/y;
const SINGLE_QUOTED = /'[^'\n]*(?:''[^'\n]*)*'/y;
const PLAIN = /(?:[A-Za-z0-9_/(.^$+~<=;\\]|-(?=[^ \n]))[^\n]*/y;
const PLAIN_IN_BRACKETS = /[A-Za-z0-9_/][^\n,[\]{}:#'"&*!|>%@`?]*/y;
const BLOCK_HEADER = /\|(-?) *\n/y;
const REST_OF_LINE = /(?: +(?:#[^\n]*)?)?(?:\n|$)/y;

const [SPACE, LINE_FEED, HASH, DASH, DOUBLE_QUOTE, SINGLE_QUOTE] = [0x20, 0x0a, 0x23, 0x2d, 0x22, 0x27];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP, COMMA, BAR] = [0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x7c];

/** Goes to the first part at or after the beginning of a line, past blank lines and comments. */
function toContent(reader: Reader, line: number): void {
  const { text } = reader;
  let start = line;
  for (;;) {
    let at = start;
    while (text.charCodeAt(at) === SPACE) at++;
    reader.at = at;
    reader.column = at < text.length ? at - start : -1;
    const unit = text.charCodeAt(at);
    if (unit !== LINE_FEED && unit !== HASH) return;
    const end = text.indexOf('\n', at);
    start = end < 0 ? text.length : end + 1;
  }
}

/** Whether an item of a list begins here. */
function isDash({ text, at }: Reader): boolean {
  if (text.charCodeAt(at) !== DASH) return false;
  const next = text.charCodeAt(at + 1);
  return next === SPACE || next === LINE_FEED || at + 1 === text.length;
}

function block(reader: Reader, depth: number): unknown {
  if (depth > DEPTH_LIMIT) throw new NotPlain();
  return isDash(reader) ? list(reader, depth) : map(reader, depth);
}

function list(reader: Reader, depth: number): unknown[] {
  const { column } = reader;
  const items: unknown[] = [];
  while (reader.column === column && isDash(reader)) {
    const from = reader.at + 1;
    if (isRestOfLine(reader, from)) {
      toContent(reader, REST_OF_LINE.lastIndex);
      items.push(reader.column > column ? block(reader, depth + 1) : null);
      continue;
    }
    let at = from;
    while (reader.text.charCodeAt(at) === SPACE) at++;
    reader.column += at - reader.at;
    reader.at = at;
    const isBlock = isDash(reader) || matchedAt(KEY, reader) !== null;
    items.push(isBlock ? block(reader, depth + 1) : inline(reader, column, depth + 1));
  }
  if (reader.column > column) throw new NotPlain();
  return items;
}

function map(reader: Reader, depth: number): object {
  const { text, column } = reader;
  const entries: Record<string, unknown> = {};
  while (reader.column === column) {
    const key = keyAt(reader, entries);
    const after = reader.at;
    if (isRestOfLine(reader, after)) {
      toContent(reader, REST_OF_LINE.lastIndex);
      const isBelow = reader.column > column || (reader.column === column && isDash(reader));
      entries[key] = isBelow ? block(reader, depth + 1) : null;
    } else {
      while (text.charCodeAt(reader.at) === SPACE) reader.at++;
      entries[key] = inline(reader, column, depth + 1);
    }
  }
  if (reader.column > column) throw new NotPlain();
  return entries;
}

/** Reads a key and its colon; it must be new in the map. */
function keyAt(reader: Reader, entries: object): string {
  const found = matchedAt(KEY, reader);
  const key = found?.[1] ?? found?.[2] ?? found?.[3];
  if (key === undefined || key === '__proto__' || Object.hasOwn(entries, key)) throw new NotPlain();
  reader.at = KEY.lastIndex;
  return key;
}

/** Reads a value that begins in the line of its key or dash, and goes on to what follows it. */
function inline(reader: Reader, column: number, depth: number): unknown {
  const unit = reader.text.charCodeAt(reader.at);
  if (unit === BAR) return literal(reader, column);
  const value = isQuoteOrBracket(unit) ? bracketed(reader, depth) : plain(reader);
  if (!isRestOfLine(reader, reader.at)) throw new NotPlain();
  toContent(reader, REST_OF_LINE.lastIndex);
  // A deeper line would continue the value.
  if (reader.column > column) throw new NotPlain();
  return value;
}

function isQuoteOrBracket(unit: number): boolean {
  return unit === DOUBLE_QUOTE || unit === SINGLE_QUOTE || unit === OPEN_LIST || unit === OPEN_MAP;
}

/** Whether a line has nothing more than a comment from here on. Sets the end of the pattern to the next line. */
function isRestOfLine({ text }: Reader, at: number): boolean {
  REST_OF_LINE.lastIndex = at;
  return REST_OF_LINE.test(text);
}

function matchedAt(pattern: RegExp, { text, at }: Reader): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Takes what a pattern matches here. */
function taken(pattern: RegExp, reader: Reader): string {
  const { text, at } = reader;
  pattern.lastIndex = at;
  if (!pattern.test(text)) throw new NotPlain();
  reader.at = pattern.lastIndex;
  return text.slice(at, reader.at);
}

/** A plain scalar outside brackets: to the end of the line, or to a comment. */
function plain(reader: Reader): unknown {
  const start = reader.at;
  const line = taken(PLAIN, reader);
  const comment = line.indexOf(' #');
  const written = withoutEnd(comment < 0 ? line : line.slice(0, comment));
  if (written.endsWith(':') || written.includes(': ')) throw new NotPlain();
  reader.at = start + written.length;
  return resolved(written);
}

function withoutEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === SPACE) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** A quoted scalar, or a list or map in brackets; inside brackets also a plain scalar. */
function bracketed(reader: Reader, depth: number): unknown {
  switch (reader.text.charCodeAt(reader.at)) {
    case DOUBLE_QUOTE: {
      const written = taken(DOUBLE_QUOTED, reader);
      return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
    }
    case SINGLE_QUOTE:
      return taken(SINGLE_QUOTED, reader).slice(1, -1).replaceAll("''", "'");
    case OPEN_LIST:
      return listInBrackets(reader, depth);
    case OPEN_MAP:
      return mapInBrackets(reader, depth);
    default:
      return resolved(withoutEnd(taken(PLAIN_IN_BRACKETS, reader)));
  }
}

function listInBrackets(reader: Reader, depth: number): unknown[] {
  const items: unknown[] = [];
  if (isEmpty(reader, CLOSE_LIST)) return items;
  do items.push(bracketed(reader, depthBelow(depth)));
  while (goesOn(reader, CLOSE_LIST));
  return items;
}

function mapInBrackets(reader: Reader, depth: number): object {
  const entries: Record<string, unknown> = {};
  if (isEmpty(reader, CLOSE_MAP)) return entries;
  do {
    const key = keyAt(reader, entries);
    skipSpaces(reader);
    entries[key] = bracketed(reader, depthBelow(depth));
  } while (goesOn(reader, CLOSE_MAP));
  return entries;
}

function depthBelow(depth: number): number {
  if (depth > DEPTH_LIMIT) throw new NotPlain();
  return depth + 1;
}

function skipSpaces(reader: Reader): void {
  while (reader.text.charCodeAt(reader.at) === SPACE) reader.at++;
}

/** Goes past an opening bracket; and past the closing one if nothing is between them. */
function isEmpty(reader: Reader, close: number): boolean {
  reader.at++;
  skipSpaces(reader);
  if (reader.text.charCodeAt(reader.at) !== close) return false;
  reader.at++;
  return true;
}

/** Goes past a comma or the closing bracket. Returns whether it was a comma. */
function goesOn(reader: Reader, close: number): boolean {
  skipSpaces(reader);
  const unit = reader.text.charCodeAt(reader.at++);
  if (unit === close) return false;
  if (unit !== COMMA) throw new NotPlain();
  skipSpaces(reader);
  return true;
}

/** The text after `|` or `|-`, of lines that are deeper than `column`. */
function literal(reader: Reader, column: number): string {
  const { text } = reader;
  const header = matchedAt(BLOCK_HEADER, reader);
  if (header === null) throw new NotPlain();
  let line = BLOCK_HEADER.lastIndex;
  let indent = 0;
  while (text.charCodeAt(line + indent) === SPACE) indent++;
  if (indent <= column) throw new NotPlain();
  const margin = text.slice(line, line + indent);
  const lines: string[] = [];
  for (;;) {
    const end = text.indexOf('\n', line);
    // The end of a text without a line feed is left to the library.
    if (end < 0 && line < text.length) throw new NotPlain();
    if (end < 0) break;
    if (text.startsWith(margin, line)) {
      const written = text.slice(line + indent, end);
      if (/^ *$/.test(written)) throw new NotPlain();
      lines.push(written);
    } else if (end === line) lines.push('');
    else break;
    line = end + 1;
  }
  while (lines.at(-1) === '') lines.pop();
  toContent(reader, line);
  if (reader.column > column) throw new NotPlain();
  return lines.join('\n') + (header[1] === '-' ? '' : '\n');
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);
const DECIMAL = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;
/** All numbers of YAML, and a little more. */
const NUMBER = /^[-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|0[ox][0-9a-fA-F]+|\.(?:inf|Inf|INF|nan|NaN|NAN))$/;

/** The value of a plain scalar by the core schema of YAML 1.2 (§10.3.2). */
function resolved(written: string): unknown {
  const first = written.charCodeAt(0);
  // Letters, `_`, `/` and others that no number begins with.
  if (first > 0x39 || first < 0x2b || first === 0x2f) {
    const word = written.length > 5 ? undefined : WORDS.get(written);
    return word === undefined ? written : word;
  }
  if (DECIMAL.test(written)) return Number(written);
  if (NUMBER.test(written)) throw new NotPlain();
  return written;
}
