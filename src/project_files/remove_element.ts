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

function ofBlock(text: string, lineStart: number, indent: number): Pick<Fix, 'span' | 'text'> | null {
  let end = nextLine(text, lineStart);
  /** After the last line with content: comments after it may belong to the next element. */
  let last = end;
  while (end < text.length) {
    const line = text.slice(end, nextLine(text, end));
    const isBlank = /^\s*(?:#.*)?$/.test(line.trimEnd());
    if (!isBlank && indentOf(line) <= indent) break;
    end = nextLine(text, end);
    if (!isBlank) last = end;
  }
  const next = text.slice(end, nextLine(text, end));
  const hasNext = indentOf(next) === indent && next[indent] === '-';
  if (!hasNext && !hasBefore(text, lineStart, indent)) return null;
  return { span: { start: lineStart, end: last }, text: '' };
}

function hasBefore(text: string, lineStart: number, indent: number): boolean {
  for (const line of text.slice(0, lineStart).split('\n').toReversed().slice(1)) {
    if (/^\s*(?:#.*)?$/.test(line.trimEnd())) continue;
    if (indentOf(line) === indent && line[indent] === '-') return true;
    if (indentOf(line) <= indent) return false;
  }
  return false;
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
