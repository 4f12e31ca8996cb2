import type { Span } from '../../diagnostics/diagnostic.ts';

/** The source of each unit of a scalar's text: unit `i` came from [starts[i], ends[i]) of the file. */
export interface Units {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly style: Style;
  /** Indentation of each line of a block. */
  readonly indent: number;
  /** Whether a plain or quoted scalar spans several lines. */
  readonly isFolded: boolean;
}

type Style = 'plain' | 'single' | 'double' | 'literal' | 'folded';

/**
 * Parses a YAML scalar again, unit by unit, to find the source of each unit of its text. Returns undefined if
 * the result differs from the parser's (a number, or a spelling that this reader does not support): positions
 * inside the scalar are then not distinguished.
 */
export function unitsOf(file: string, span: Span, text: string): Units | undefined {
  const style = styleAt(file, span.start);
  if (style === 'literal' || style === 'folded') return blockUnits(file, span, text, style);
  const units = flowUnits(file, span, style);
  return units?.text === text ? units : undefined;
}

const STYLES: Readonly<Record<string, Style>> = {
  '"': 'double',
  "'": 'single',
  '|': 'literal',
  '>': 'folded',
};

function styleAt(file: string, start: number): Style {
  return STYLES[file.charAt(start)] ?? 'plain';
}

/** A text under construction, with the source positions of its units. */
interface Growing {
  text: string;
  readonly starts: number[];
  readonly ends: number[];
}

function grow(growing: Growing, unit: string, start: number, end: number): void {
  growing.text += unit;
  for (let index = 0; index < unit.length; index++) {
    growing.starts.push(start);
    growing.ends.push(end);
  }
}

function shrink(growing: Growing, length: number): void {
  growing.text = growing.text.slice(0, length);
  growing.starts.length = length;
  growing.ends.length = length;
}

const LINE_BREAK = /\r?\n/y;
const BREAK_AND_SPACE = /(?:[ \t]*\r?\n)+[ \t]*/y;

/** Plain and quoted scalars (YAML 1.2.2 §7.3), whose line breaks fold into spaces. */
function flowUnits(file: string, span: Span, style: Style): Units | undefined {
  const growing: Growing = { text: '', starts: [], ends: [] };
  const quotes = style === 'plain' ? 0 : 1;
  const end = span.end - quotes;
  /** Units before this one are escaped and kept even before a line break. */
  let kept = 0;
  for (let at = span.start + quotes; at < end;) {
    const character = file[at]!;
    if (character === '\n' || (character === '\r' && file[at + 1] === '\n')) {
      at = foldBreak(growing, file, at, kept);
    } else if (style === 'single' && character === "'") {
      grow(growing, "'", at, at + 2);
      at += 2;
    } else if (style === 'double' && character === '\\') {
      const escape = escapeAt(file, at);
      if (escape === undefined) return undefined;
      grow(growing, escape.text, at, escape.end);
      kept = growing.text.length;
      at = escape.end;
    } else {
      grow(growing, character, at, at + 1);
      at += 1;
    }
  }
  return { ...growing, style, indent: 0, isFolded: file.slice(span.start, span.end).includes('\n') };
}

/**
 * One line break becomes a space, several become one fewer; white space around them is removed (YAML 1.2.2
 * §6.5).
 */
function foldBreak(growing: Growing, file: string, at: number, kept: number): number {
  let length = growing.text.length;
  while (length > kept && (growing.text[length - 1] === ' ' || growing.text[length - 1] === '\t')) length--;
  const start = length < growing.text.length ? growing.starts[length]! : at;
  shrink(growing, length);
  BREAK_AND_SPACE.lastIndex = at;
  const [run] = BREAK_AND_SPACE.exec(file)!;
  const breaks = run.split('\n').length - 1;
  grow(growing, breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), start, at + run.length);
  return at + run.length;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};
const ESCAPE_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** An escape of a double-quoted scalar (YAML 1.2.2 §5.7). */
function escapeAt(file: string, at: number): { text: string; end: number } | undefined {
  const letter = file[at + 1] ?? '';
  const simple = ESCAPES[letter];
  if (simple !== undefined) return { text: simple, end: at + 2 };
  const digits = ESCAPE_DIGITS[letter];
  if (digits !== undefined) {
    const hex = file.slice(at + 2, at + 2 + digits);
    if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits) return undefined;
    const code = Number.parseInt(hex, 16);
    if (code > 0x10ffff) return undefined;
    return { text: String.fromCodePoint(code), end: at + 2 + digits };
  }
  LINE_BREAK.lastIndex = at + 1;
  const found = LINE_BREAK.exec(file);
  if (found === null) return undefined;
  let end = at + 1 + found[0].length;
  while (file[end] === ' ' || file[end] === '\t') end++;
  return { text: '', end };
}

const BLOCK_HEADER = /[|>]([-+1-9]*)[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y;
/** Maximum indentation that is tried for a block with an indentation indicator. */
const INDENT_LIMIT = 64;

/** Block scalars (YAML 1.2.2 §8.1). The indentation is the one that reproduces the parsed text. */
function blockUnits(file: string, span: Span, text: string, style: 'literal' | 'folded'): Units | undefined {
  BLOCK_HEADER.lastIndex = span.start;
  const header = BLOCK_HEADER.exec(file);
  if (header === null) return undefined;
  const lines = linesOf(file, { start: span.start + header[0].length, end: span.end });
  const first = lines.find((line) => line.spaces < line.end - line.start);
  const natural = first?.spaces ?? Math.max(0, ...lines.map((line) => line.spaces));
  const [least, most] = /[1-9]/.test(header[1]!) ? [1, INDENT_LIMIT] : [natural, natural];
  for (let indent = least; indent <= most; indent++) {
    const growing =
      style === 'literal' ? literalUnits(file, lines, indent) : foldedUnits(file, lines, indent);
    // Trailing breaks are kept, clipped to one, or stripped: each result is a prefix of this text.
    if (growing.text.startsWith(text) && growing.text.slice(text.length).trim() === '') {
      shrink(growing, text.length);
      return { ...growing, style, indent, isFolded: false };
    }
  }
  return undefined;
}

interface Line {
  readonly start: number;
  /** Before the line break. */
  readonly end: number;
  /** After the line break. */
  readonly next: number;
  /** Spaces at its start. */
  readonly spaces: number;
}

function linesOf(file: string, { start, end }: Span): Line[] {
  const lines: Line[] = [];
  for (let at = start; at < end;) {
    const newline = file.indexOf('\n', at);
    const next = newline === -1 || newline >= end ? end : newline + 1;
    let stop = newline === -1 || newline >= end ? end : newline;
    if (stop > at && file[stop - 1] === '\r') stop--;
    let spaces = 0;
    while (at + spaces < stop && file[at + spaces] === ' ') spaces++;
    lines.push({ start: at, end: stop, next, spaces });
    at = next;
  }
  return lines;
}

function literalUnits(file: string, lines: readonly Line[], indent: number): Growing {
  const growing: Growing = { text: '', starts: [], ends: [] };
  for (const line of lines) {
    growLine(growing, file, line, indent);
    grow(growing, '\n', line.end, line.next);
  }
  return growing;
}

function growLine(growing: Growing, file: string, line: Line, indent: number): void {
  for (let at = line.start + indent; at < line.end; at++) grow(growing, file[at]!, at, at + 1);
}

/** Lines at the block's indentation are joined with spaces; empty and deeper lines keep their breaks (§8.1.3). */
function foldedUnits(file: string, lines: readonly Line[], indent: number): Growing {
  const growing: Growing = { text: '', starts: [], ends: [] };
  let separator = '';
  let from = lines[0]?.start ?? 0;
  let deeperBefore = false;
  for (const line of lines) {
    const content = Math.min(line.start + indent, line.end);
    const empty = content === line.end;
    const deeper = !empty && (file[content] === ' ' || file[content] === '\t');
    if (empty) {
      // Breaks before the first text are kept.
      if (separator === '' || separator === '\n') grow(growing, '\n', from, line.next);
      else separator = '\n';
      if (separator === '') from = line.next;
      continue;
    }
    if (deeper) {
      if (separator === ' ') separator = '\n';
      else if (!deeperBefore && separator === '\n') separator = '\n\n';
    }
    grow(growing, separator, from, content);
    growLine(growing, file, line, indent);
    separator = deeper ? '\n' : ' ';
    deeperBefore = deeper;
    from = line.end;
  }
  const end = lines.at(-1)?.next ?? from;
  grow(growing, '\n'.repeat(1 + trailingEmpty(lines, indent)), Math.min(from, end), end);
  return growing;
}

function trailingEmpty(lines: readonly Line[], indent: number): number {
  let count = 0;
  while (
    count < lines.length &&
    lines[lines.length - 1 - count]!.start + indent >= lines[lines.length - 1 - count]!.end
  )
    count++;
  return count;
}
