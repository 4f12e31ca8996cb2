import { SyntaxProblem, unescapeBytes, unescapeText } from './escapes.ts';
import { type Value, canonicalInt, Double, INT64_MAX, INT64_MIN, UINT64_MAX, Uint } from './values.ts';

/** `literal` has its value; `int` is separate because a preceding minus belongs to it. */
type TokenKind = 'end' | 'identifier' | 'quoted' | 'int' | 'double' | 'literal' | 'symbol';

/** A cursor in a source; its fields describe the current token. */
export interface Lexer {
  readonly text: string;
  kind: TokenKind;
  /** Name of an identifier, or the symbol itself. */
  word: string;
  value: Value;
  start: number;
  end: number;
  /** End of the previous token, where the span of a finished node ends. */
  lastEnd: number;
}

export function lexer(text: string): Lexer {
  const fresh: Lexer = { text, kind: 'end', word: '', value: null, start: 0, end: 0, lastEnd: 0 };
  advance(fresh);
  return fresh;
}

const NUMBER =
  /0[xX][0-9a-fA-F]+[uU]?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[uU]?/y;
const QUOTED = /`[A-Za-z0-9_./ -]+`/y;
const STRING_PREFIX = /(?:[rR][bB]?|[bB][rR]?)?(?="|')/y;

/** Moves to the next token. Throws `SyntaxProblem`, which the parser's entry point catches. */
export function advance(at: Lexer): void {
  at.lastEnd = at.end;
  const start = skipBlank(at.text, at.end);
  at.start = start;
  if (start >= at.text.length) {
    at.kind = 'end';
    at.word = '';
    at.end = start;
    return;
  }
  const code = at.text.charCodeAt(start);
  if (isLetter(code)) {
    if (isPrefixLetter(code) && readString(at, start)) return;
    readWord(at, start);
  } else if (isDigit(code) || (code === 46 && isDigit(at.text.charCodeAt(start + 1)))) readNumber(at, start);
  else if (code === 34 || code === 39) readString(at, start);
  else if (code === 96) readQuoted(at, start);
  else readSymbol(at, start, code);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** b B r R */
function isPrefixLetter(code: number): boolean {
  return code === 98 || code === 66 || code === 114 || code === 82;
}

/** Spaces, tabs, line breaks, form feeds and `//` comments. */
function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 9 || code === 10 || code === 12 || code === 13) at += 1;
    else if (code === 47 && text.charCodeAt(at + 1) === 47) {
      const newline = text.indexOf('\n', at);
      at = newline < 0 ? text.length : newline + 1;
    } else return at;
  }
}

function readWord(at: Lexer, start: number): void {
  const { text } = at;
  let end = start + 1;
  for (let code = text.charCodeAt(end); isLetter(code) || isDigit(code); code = text.charCodeAt(end))
    end += 1;
  at.end = end;
  at.word = text.slice(start, end);
  at.kind = 'identifier';
}

function readQuoted(at: Lexer, start: number): void {
  QUOTED.lastIndex = start;
  if (!QUOTED.test(at.text)) {
    throw new SyntaxProblem(
      'a quoted name can only contain letters, digits and `_ . / -` or spaces',
      start,
      start + 1,
    );
  }
  at.end = QUOTED.lastIndex;
  at.word = at.text.slice(start + 1, at.end - 1);
  at.kind = 'quoted';
}

function readNumber(at: Lexer, start: number): void {
  NUMBER.lastIndex = start;
  NUMBER.test(at.text);
  at.end = NUMBER.lastIndex;
  const word = at.text.slice(start, at.end);
  const next = at.text.charCodeAt(at.end);
  if (isLetter(next) || isDigit(next)) {
    throw new SyntaxProblem(`\`${word}${at.text[at.end]}\` is not a number`, start, at.end + 1);
  }
  at.word = word;
  const last = word.charCodeAt(word.length - 1);
  if (last === 117 || last === 85) {
    const value = BigInt(word.slice(0, -1));
    if (value > UINT64_MAX) throw new SyntaxProblem(`\`${word}\` is beyond the range of uint`, start, at.end);
    at.kind = 'literal';
    at.value = new Uint(canonicalInt(value));
  } else if (/^0[xX]|^[0-9]+$/.test(word)) {
    // The range is checked when a preceding minus is known.
    at.kind = 'int';
  } else {
    const value = Number(word);
    if (!Number.isFinite(value))
      throw new SyntaxProblem(`\`${word}\` is beyond the range of double`, start, at.end);
    at.kind = 'double';
    at.value = new Double(value);
  }
}

/** Value of an int token; undefined if it is out of range. */
export function intValue(word: string, negative: boolean): number | bigint | undefined {
  if (word.length < 15) {
    const small = Number(word);
    return negative && small !== 0 ? -small : small;
  }
  const magnitude = BigInt(word);
  const value = negative ? -magnitude : magnitude;
  return value < INT64_MIN || value > INT64_MAX ? undefined : canonicalInt(value);
}

/** Reads a string or bytes literal at `start`; false if it is only an identifier that begins with r or b. */
function readString(at: Lexer, start: number): boolean {
  const { text } = at;
  STRING_PREFIX.lastIndex = start;
  // Most strings have no prefix.
  const isPlain = !isPrefixLetter(text.charCodeAt(start));
  if (!isPlain && !STRING_PREFIX.test(text)) return false;
  const open = isPlain ? start : STRING_PREFIX.lastIndex;
  const prefix = isPlain ? '' : text.slice(start, open).toLowerCase();
  const quote = quoteAt(text, open);
  const raw = prefix.includes('r');
  const bodyStart = open + quote.length;
  const bodyEnd = closing(text, bodyStart, quote, raw);
  if (bodyEnd < 0) {
    throw new SyntaxProblem(`the string has no closing ${quote}`, start, text.length);
  }
  const body = text.slice(bodyStart, bodyEnd);
  at.end = bodyEnd + quote.length;
  at.kind = 'literal';
  at.word = '';
  at.value = prefix.includes('b') ? unescapeBytes(body, bodyStart, raw) : unescapeText(body, bodyStart, raw);
  return true;
}

function quoteAt(text: string, open: number): string {
  const code = text.charCodeAt(open);
  const isLong = text.charCodeAt(open + 1) === code && text.charCodeAt(open + 2) === code;
  if (code === DOUBLE_QUOTE) return isLong ? '"""' : '"';
  return isLong ? "'''" : "'";
}

const DOUBLE_QUOTE = 34;

/**
 * Position of the closing quote, or -1. A short string ends at its line; a backslash escapes the next
 * character.
 */
function closing(text: string, from: number, quote: string, raw: boolean): number {
  const long = quote.length === 3;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote.charCodeAt(0) && (!long || text.startsWith(quote, at))) return at;
    if (code === 92 && !raw) at += 1;
    else if (!long && (code === 10 || code === 13)) return -1;
  }
  return -1;
}

// Constants of the program: comparing a token with one of them compares two pointers.
const TWO_CHARACTER_SYMBOLS = ['&&', '||', '==', '!=', '<=', '>='] as const;
const SYMBOLS: readonly (string | undefined)[] = tableOf('!-+*/%<>?:.,()[]{}');
/** The symbol of two characters that begins with this one, by its character code. */
const LONGER: readonly (string | undefined)[] = longerSymbols();

function tableOf(symbols: string): (string | undefined)[] {
  const table: (string | undefined)[] = Array.from({ length: 128 });
  for (const symbol of symbols) table[symbol.charCodeAt(0)] = symbol;
  return table;
}

function longerSymbols(): (string | undefined)[] {
  const table: (string | undefined)[] = Array.from({ length: 128 });
  for (const symbol of TWO_CHARACTER_SYMBOLS) table[symbol.charCodeAt(0)] = symbol;
  return table;
}

function readSymbol(at: Lexer, start: number, code: number): void {
  const { text } = at;
  at.kind = 'symbol';
  if (code === EQUALS || code === BANG || code === DOLLAR) refuseForeign(text, start);
  const longer = LONGER[code];
  if (longer !== undefined && text.charCodeAt(start + 1) === longer.charCodeAt(1)) {
    at.word = longer;
    at.end = start + 2;
    return;
  }
  at.word = SYMBOLS[code] ?? refuseSymbol(text, start);
  at.end = start + 1;
}

function refuseSymbol(text: string, start: number): never {
  const one = String.fromCodePoint(text.codePointAt(start)!);
  const hint = hintFor(one, text[start + 1]);
  throw new SyntaxProblem(`unexpected ${hint ?? `\`${one}\``}`, start, start + one.length, MEANT[one]);
}

const EQUALS = 61;
const BANG = 33;
const DOLLAR = 36;

/** Operators of other languages. */
function refuseForeign(text: string, start: number): void {
  const three = text.slice(start, start + 3);
  if (three === '===' || three === '!==')
    throw new SyntaxProblem(`unexpected \`${three}\``, start, start + 3, three.slice(0, 2));
  if (three.startsWith('=~') || three.startsWith('!~')) {
    const hint = 'a pattern is tested with text.matches(pattern)';
    throw new SyntaxProblem(`unexpected \`${three.slice(0, 2)}\`: ${hint}`, start, start + 2);
  }
  if (three.startsWith('${')) {
    const hint = 'it belongs to templates, and an expression is written without it';
    throw new SyntaxProblem(`unexpected \`\${\`: ${hint}`, start, start + 2);
  }
}

const MEANT: Readonly<Record<string, string>> = {
  '=': '==',
  '&': '&&',
  '|': '||',
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
};

/** A character that is not visible, or that is right elsewhere. */
function hintFor(one: string, next: string | undefined): string | undefined {
  if (one === '\\' && (next === '"' || next === "'"))
    return '`\\`: a quote that begins or ends a string is written without it';
  return /[\p{Cc}\p{Cf}\p{Z}]/u.test(one)
    ? `invisible character U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}: remove it`
    : undefined;
}
