import type { Span } from './diagnostic.ts';
import { type Glyph, glyphsOf } from './display.ts';
import { type Lines, lineSpan, positionAt } from './lines.ts';

/** A source line with the marks under it, and the line before it if that is useful. */
export interface Frame {
  readonly before: { readonly line: number; readonly text: string } | null;
  readonly line: number;
  readonly text: string;
  /** Cells from the start of `text` to the first mark. */
  readonly indent: number;
  /** Cells to mark, at least one. */
  readonly width: number;
}

const ELLIPSIS = '…';
/** Cells shown left of the marks when a line has to be cut. */
const LEAD = 30;

/** The frame of a span, cut to `columns` cells around the marks of its first line. */
export function frameOf(lines: Lines, span: Span, columns: number): Frame {
  const { line } = positionAt(lines, span.start);
  const whole = lineSpan(lines, line);
  const near = nearby(lines.text, whole, span.start, columns);
  const glyphs = glyphsOf(lines.text.slice(near.start, near.end));
  const from = glyphAt(glyphs, span.start - near.start);
  const to = Math.max(from + 1, glyphAt(glyphs, span.end - near.start));
  const cut = windowOf(glyphs, from, to, columns);
  const cutLeft = cut.from > 0 || near.start > whole.start;
  const cutRight = cut.to < glyphs.length || near.end < whole.end;
  return {
    before: contextOf(lines, line - 1, columns),
    line,
    text: shown(glyphs, cut, cutLeft, cutRight),
    indent: cellsOf(glyphs.slice(cut.from, from)) + (cutLeft ? 1 : 0),
    width: Math.max(1, cellsOf(glyphs.slice(from, Math.min(to, cut.to)))),
  };
}

function contextOf(lines: Lines, line: number, columns: number): Frame['before'] {
  if (line < 1) return null;
  const whole = lineSpan(lines, line);
  const near = nearby(lines.text, whole, whole.start, columns);
  const glyphs = glyphsOf(lines.text.slice(near.start, near.end));
  const cut = windowOf(glyphs, 0, 0, columns);
  const text = shown(glyphs, cut, false, cut.to < glyphs.length || near.end < whole.end);
  return text.trim() === '' ? null : { line, text };
}

/** The part of a line that can be visible, so that a line of megabytes costs no more than a short one. */
function nearby(text: string, whole: Span, offset: number, columns: number): Span {
  const reach = columns * 4;
  let start = Math.max(whole.start, offset - reach);
  let end = Math.min(whole.end, offset + reach);
  if (start > whole.start && isLowSurrogate(text, start)) start--;
  if (end < whole.end && isLowSurrogate(text, end)) end++;
  return { start, end };
}

function isLowSurrogate(text: string, offset: number): boolean {
  const unit = text.charCodeAt(offset);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

interface Cut {
  readonly from: number;
  readonly to: number;
}

/** The range of glyphs to show: all if they fit, otherwise from a little left of the marks. */
function windowOf(glyphs: readonly Glyph[], from: number, to: number, columns: number): Cut {
  if (cellsOf(glyphs) <= columns) return { from: 0, to: glyphs.length };
  let first = Math.min(from, glyphs.length);
  const markCells = cellsOf(glyphs.slice(from, to));
  const lead = cellsOf(glyphs.slice(0, first)) + markCells < columns ? Infinity : LEAD;
  for (let cells = 0; first > 0; first--) {
    cells += glyphs[first - 1]!.cells;
    if (cells > lead) break;
  }
  let last = first;
  for (let cells = 2; last < glyphs.length; last++) {
    cells += glyphs[last]!.cells;
    if (cells > columns) break;
  }
  // Space left at the end of the line is used at its beginning.
  for (let room = columns - 2 - cellsOf(glyphs.slice(first, last)); first > 0 && room > 0; first--) {
    room -= glyphs[first - 1]!.cells;
    if (room < 0) break;
  }
  return { from: first, to: last };
}

function shown(glyphs: readonly Glyph[], cut: Cut, cutLeft: boolean, cutRight: boolean): string {
  const text = glyphs.slice(cut.from, cut.to).map((glyph) => glyph.shown);
  return (cutLeft ? ELLIPSIS : '') + text.join('') + (cutRight ? ELLIPSIS : '');
}

function glyphAt(glyphs: readonly Glyph[], offset: number): number {
  const at = glyphs.findIndex((glyph) => glyph.offset >= offset);
  return at === -1 ? glyphs.length : at;
}

function cellsOf(glyphs: readonly Glyph[]): number {
  let cells = 0;
  for (const glyph of glyphs) cells += glyph.cells;
  return cells;
}
