import type { Fix } from '../diagnostics/diagnostic.ts';

/**
 * The edit that removes the element of a YAML list that begins at an offset, with its lines and without any others. Null if
 * it is the only one, or not written in a way that makes this certain.
 */
export function removalOf(text: string, offset: number): Pick<Fix, 'span' | 'text'> | null {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  if (/^ *- +$/.test(before)) return ofBlock(text, lineStart, before.indexOf('-'));
  return ofFlow(text, offset);
}

/** The edit that removes the entry of a block map whose key begins at an offset; null as in `removalOf`. */
export function removalOfEntry(text: string, offset: number): Pick<Fix, 'span' | 'text'> | null {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const indent = offset - lineStart;
  if (!/^ *$/.test(text.slice(lineStart, offset))) return null;
  const isOfEntry = (line: string): boolean =>
    indentOf(line) > indent || (indentOf(line) === indent && /^- |^-$/.test(line.slice(indent).trimEnd()));
  const { end, last } = endOf(text, lineStart, isOfEntry);
  const isEntry = (line: string): boolean => indentOf(line) === indent && /^[^\s#-]/.test(line.slice(indent));
  const before = lineBefore(text, lineStart, indent);
  const hasOthers =
    isEntry(text.slice(end, nextLine(text, end))) || (before !== undefined && isEntry(before));
  return hasOthers ? { span: { start: lineStart, end: last }, text: '' } : null;
}

/** Where the lines of an element end, and the last of them with content: comments after it may belong to the next one. */
function endOf(text: string, lineStart: number, isWithin: (line: string) => boolean) {
  let end = nextLine(text, lineStart);
  let last = end;
  while (end < text.length) {
    const line = text.slice(end, nextLine(text, end));
    const isBlank = BLANK.test(line.trimEnd());
    if (!isBlank && !isWithin(line)) break;
    end = nextLine(text, end);
    if (!isBlank) last = end;
  }
  return { end, last };
}

const BLANK = /^\s*(?:#.*)?$/;

/** The nearest line with content above a line that is indented at most so far. */
function lineBefore(text: string, lineStart: number, indent: number): string | undefined {
  for (let end = lineStart - 1; end >= 0;) {
    const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end);
    if (indentOf(line) <= indent && !BLANK.test(line.trimEnd())) return line;
    end = start - 1;
  }
  return undefined;
}

function ofBlock(text: string, lineStart: number, indent: number): Pick<Fix, 'span' | 'text'> | null {
  const { end, last } = endOf(text, lineStart, (line) => indentOf(line) > indent);
  const next = text.slice(end, nextLine(text, end));
  const hasNext = indentOf(next) === indent && next[indent] === '-';
  if (!hasNext && !hasBefore(text, lineStart, indent)) return null;
  return { span: { start: lineStart, end: last }, text: '' };
}

function hasBefore(text: string, lineStart: number, indent: number): boolean {
  const before = lineBefore(text, lineStart, indent);
  return before !== undefined && indentOf(before) === indent && before[indent] === '-';
}

function nextLine(text: string, start: number): number {
  const found = text.indexOf('\n', start);
  return found < 0 ? text.length : found + 1;
}

function indentOf(line: string): number {
  return /^ */.exec(line)![0].length;
}

const SCALAR = /^(?:'(?:[^'\n]|'')*'|"(?:[^"\\\n]|\\.)*"|[^\s'"[\]{},#][^[\]{},#\n]*)/;

/** An element that is one text, of a list in brackets. */
function ofFlow(text: string, offset: number): Pick<Fix, 'span' | 'text'> | null {
  const scalar = SCALAR.exec(text.slice(offset, offset + 4_096))?.[0];
  if (scalar === undefined) return null;
  const end = offset + scalar.length;
  const after = /^ *, */.exec(text.slice(end));
  const before = /(, *|\[ *)$/.exec(text.slice(Math.max(0, offset - 64), offset));
  if (before === null) return null;
  if (after !== null) return { span: { start: offset, end: end + after[0].length }, text: '' };
  if (!before[0].startsWith(',') || !/^ *\]/.test(text.slice(end))) return null;
  return { span: { start: offset - before[0].length, end }, text: '' };
}
