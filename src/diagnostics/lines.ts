import type { Span } from './diagnostic.ts';

/** A line and column, both from 1; columns count code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A text with the offsets of its line starts. */
export interface Lines {
  readonly text: string;
  /** UTF-16 offset of the start of each line, ascending; never empty. */
  readonly starts: readonly number[];
  /** Whether columns may differ from distances in UTF-16 units. */
  readonly hasSurrogates: boolean;
}

const LINE_BREAK = /\r\n|\n|\r/g;

/** Finds the lines of a text; a break is LF, CR LF or CR (YAML 1.2.2 §5.4). */
export function linesOf(text: string): Lines {
  const starts = [0];
  for (const found of text.matchAll(LINE_BREAK)) starts.push(found.index + found[0].length);
  return { text, starts, hasSurrogates: /[\ud800-\udfff]/.test(text) };
}

/** The position of a UTF-16 offset; an offset outside the text is clamped to the nearest end. */
export function positionAt(lines: Lines, offset: number): Position {
  const within = Math.min(Math.max(offset, 0), lines.text.length);
  const line = lineIndex(lines.starts, within);
  const start = lines.starts[line]!;
  const column = lines.hasSurrogates ? codePoints(lines.text, start, within) : within - start;
  return { line: line + 1, column: column + 1 };
}

/** The span of a line without its break, counted from 1; an empty span if there is no such line. */
export function lineSpan(lines: Lines, line: number): Span {
  const { text, starts } = lines;
  const start = starts[line - 1];
  if (start === undefined) return { start: text.length, end: text.length };
  let end = starts[line] ?? text.length;
  if (end > start && text[end - 1] === '\n') end--;
  if (end > start && text[end - 1] === '\r') end--;
  return { start, end };
}

function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function codePoints(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return count;
}
