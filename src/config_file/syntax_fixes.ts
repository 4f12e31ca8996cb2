import type { Fix, Span } from '../diagnostics/diagnostic.ts';
import { quotedScalar } from './quoted_scalar.ts';

/**
 * Fixes of texts that do not parse. Each is for a mistake that has one likely cure; null where the text allows another one.
 */

const fixOf = (message: string, start: number, end: number, text: string, safe = false): Fix => ({
  message,
  span: { start, end },
  text,
  safe,
});

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end - (text[end - 1] === '\r' ? 1 : 0);
}

/** Spaces for the tabs that indent lines: as many as the first step of the file has. */
export function spacesForTabs(text: string): Fix | null {
  const step = /(?:^|\n)( +)\S/.exec(text)?.[1]!.length ?? 2;
  const first = /(?:^|\n)( *\t)/.exec(text);
  if (first === null) return null;
  const start = lineStart(text, first.index + first[0].length);
  const last = text.lastIndexOf('\t');
  const end = lineEnd(text, last);
  const lines = text
    .slice(start, end)
    .replaceAll(/^[ \t]+/gm, (indent) => indent.replaceAll('\t', ' '.repeat(step)));
  return fixOf('indent with spaces', start, end, lines);
}

/** Quotes around a value that begins at an offset: up to the end of the line, or of an item in brackets. */
export function quotedFrom(text: string, start: number, safe: boolean): Fix | null {
  const before = text.slice(lineStart(text, start), start);
  const end = lineEnd(text, start);
  const isInBrackets = /[[{][^\]}]*$/.test(before);
  const rest = text.slice(start, end);
  const value = (isInBrackets ? /^[^,\]}]*/ : /^(?:(?! #).)*/).exec(rest)![0].trimEnd();
  if (value === '' || /["']/.test(value[0]!) || !/[:,[{-]\s*$/.test(before)) return null;
  return fixOf('put it in quotes', start, start + value.length, quotedScalar(value), safe);
}

/** Quotes around the value of the first key of a line, which has a colon and a space itself. */
export function quotedLine(text: string, at: number): Fix | null {
  const start = lineStart(text, at);
  const line = text.slice(start, lineEnd(text, at));
  const found = /^(?:\s|- )*[\w-]+: +(?=[^\s'"[{|>&*!])/.exec(line);
  return found === null ? null : quotedFrom(text, start + found[0].length, false);
}

/** The end of a quote that begins at an offset and is alone on its line. */
export function closedQuote(text: string, start: number): Fix | null {
  const quote = text[start]!;
  const end = lineEnd(text, start);
  const rest = text.slice(start + 1, end);
  if (rest.trim() === '' || rest.includes(quote) || /[,#]/.test(rest)) return null;
  const opened = text.slice(lineStart(text, start), start).replaceAll(/[^[{]/g, '').length;
  const closing = /[\s\]}]*$/.exec(rest)![0];
  if (
    closing.replaceAll(/\s/g, '').length > opened ||
    /[[\]{}]/.test(rest.slice(0, -closing.length || undefined))
  )
    return null;
  const at = end - closing.length;
  return fixOf(`close it with ${quote}`, at, at, quote);
}

/** The end of a bracket that begins at an offset, on its line: the lines below have to belong to something else. */
export function closedBracket(text: string, start: number, closing: string): Fix | null {
  const end = lineEnd(text, start);
  const line = text.slice(start + 1, end);
  if (/[[\]{}#]/.test(line) || /,\s*$/.test(line) || line.trim() === '') return null;
  const own = /^[ -]*/.exec(text.slice(lineStart(text, start)))![0].length;
  const next = /\n( *)\S/.exec(text.slice(end));
  if (next !== null && next[1]!.length > own) return null;
  const at = start + 1 + line.trimEnd().length;
  return fixOf(`close it with ${closing}`, at, at, line.endsWith(' ') && closing === '}' ? ' }' : closing);
}

/** The end of a bracket that is the whole text. */
export function closedText(text: string, closing: string): Fix {
  const at = text.trimEnd().length;
  return fixOf(`close it with ${closing}`, at, at, `\n${closing}`);
}

/** A comma after the value above. */
export function commaBefore(text: string, start: number): Fix | null {
  const at = text.slice(0, start).trimEnd().length;
  return at === 0 || /[,[{:]/.test(text[at - 1]!) ? null : fixOf('write a comma', at, at, ',');
}

/** A space, where nothing else can be meant. */
export function spaceAfter(at: number): Fix {
  return fixOf('write a space', at, at, ' ', true);
}

/** A line, and with it those that are deeper, at another indentation. */
export function shifted(text: string, start: number, to: number, withDeeper: boolean): Fix {
  const own = /^ */.exec(text.slice(start))![0].length;
  let end = lineEnd(text, start);
  if (withDeeper) {
    for (const { 0: line, 1: indent, index } of text.slice(end).matchAll(/\r?\n( *)(\S?).*/g)) {
      if (line.trim() !== '' && indent!.length <= own) break;
      if (line.trim() !== '') end = start + (lineEnd(text, start) - start) + index + line.trimEnd().length;
    }
  }
  const lines = text
    .slice(start, end)
    .replaceAll(/^ *(?=\S)/gm, (indent) => ' '.repeat(Math.max(0, indent.length + to - own)));
  return fixOf(`indent by ${to}`, start, end, lines);
}

/** A text after a fix. */
export function applied(
  text: string,
  { span, text: replacement }: { readonly span: Span; readonly text: string },
): string {
  return text.slice(0, span.start) + replacement + text.slice(span.end);
}
