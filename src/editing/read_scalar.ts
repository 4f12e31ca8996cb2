import type { Scanner, YamlAlias, YamlScalar } from './yaml_tree.ts';

/** The end of a quoted text, after its quote; null if it does not end before `limit`. */
export function quotedEnd(text: string, start: number, limit: number): number | null {
  const quote = text[start]!;
  for (let at = start + 1; at < limit; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) {
      if (quote === '"' || text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return null;
}

/** A quoted text. An unterminated one extends to the end of its line. */
export function quotedScalar(scanner: Scanner, parent: number, isInFlow: boolean): YamlScalar {
  const { text, at: start } = scanner;
  const style = text[start] === '"' ? 'double' : 'single';
  const lineEnd = scanner.lineEnd();
  let end = quotedEnd(text, start, lineEnd);
  if (end === null) {
    const limit = quotedLimit(scanner, parent);
    const far = quotedEnd(text, start, limit);
    end = far !== null && (!isInFlow || /^\s*(?:[,\]}:#]|$)/.test(lineAfter(scanner, far))) ? far : lineEnd;
  }
  moveTo(scanner, end);
  return { kind: 'scalar', style, start, end };
}

function lineAfter(scanner: Scanner, offset: number): string {
  return scanner.text.slice(offset, scanner.lineEnd(offset));
}

/** The end of the lines that may continue a value: they are deeper than what it belongs to. */
function quotedLimit(scanner: Scanner, parent: number): number {
  const { text, end } = scanner;
  let limit = scanner.lineEnd();
  for (let next = text.indexOf('\n', limit); next >= 0 && next < end; next = text.indexOf('\n', limit)) {
    const lineEnd = scanner.lineEnd(next + 1);
    const line = text.slice(next + 1, lineEnd);
    if (line.trim() !== '' && indentOf(line) <= parent) break;
    limit = lineEnd;
    if (lineEnd >= end) break;
  }
  return limit;
}

function indentOf(line: string): number {
  return /^ */.exec(line)![0].length;
}

/** Moves to an offset that may be lines below. */
export function moveTo(scanner: Scanner, offset: number): void {
  const start = scanner.text.lastIndexOf('\n', offset - 1) + 1;
  if (start > scanner.lineStart) scanner.lineStart = start;
  scanner.at = offset;
}

/** A block text: its header, and the lines after it that are deeper than what it belongs to. */
export function blockScalar(scanner: Scanner, parent: number): YamlScalar {
  const { text, at: start, end: limit } = scanner;
  const style = text[start] === '|' ? 'literal' : 'folded';
  const keepsAll = /^[|>]\d?\+/.test(text.slice(start, start + 3));
  let end = Math.min(lineBreakAfter(scanner, start), limit);
  let last = end;
  while (end < limit) {
    const line = text.slice(end, scanner.lineEnd(end));
    const isBlank = line.trim() === '';
    if (!isBlank && indentOf(line) <= parent) break;
    end = Math.min(lineBreakAfter(scanner, end), limit);
    if (!isBlank || keepsAll) last = end;
  }
  moveTo(scanner, end);
  return { kind: 'scalar', style, start, end: keepsAll ? end : last };
}

function lineBreakAfter({ text }: Scanner, offset: number): number {
  const at = text.indexOf('\n', offset);
  return at < 0 ? text.length : at + 1;
}

export function alias(scanner: Scanner): YamlAlias {
  const start = scanner.at;
  const name = /^[^\s[\]{},]*/.exec(scanner.text.slice(start + 1, start + 200))![0];
  scanner.at = Math.min(start + 1 + name.length, scanner.end);
  return { kind: 'alias', name, start, end: scanner.at };
}

/** A text without quotes, with the deeper lines that continue it. */
export function plainScalar(
  scanner: Scanner,
  parent: number,
  isKey: (offset: number) => boolean,
): YamlScalar {
  const { text, at: start } = scanner;
  let end = plainEnd(scanner, start);
  for (;;) {
    const lineEnd = scanner.lineEnd(end);
    // A comment ends the text.
    if (text.slice(end, lineEnd).trim() !== '') break;
    const next = nextContent(scanner, lineEnd);
    if (next === null || next.column <= parent || text[next.offset] === '#' || isKey(next.offset)) break;
    end = plainEnd(scanner, next.offset);
  }
  moveTo(scanner, end);
  return { kind: 'scalar', style: 'plain', start, end };
}

function plainEnd(scanner: Scanner, start: number): number {
  const line = scanner.text.slice(start, scanner.lineEnd(start));
  const comment = /\s#/.exec(line)?.index ?? line.length;
  return start + Math.max(line.slice(0, comment).trimEnd().length, 1);
}

/** The next character after line breaks and spaces, with its column. */
function nextContent(scanner: Scanner, from: number): { offset: number; column: number } | null {
  const { text, end } = scanner;
  let offset = from;
  let lineStart = scanner.lineStart;
  for (; offset < end; offset++) {
    const code = text.charCodeAt(offset);
    if (code === 10) lineStart = offset + 1;
    else if (code !== 32 && code !== 13 && code !== 9) {
      const marker = text.slice(offset, offset + 3);
      const isMarker = offset === lineStart && (marker === '---' || marker === '...');
      return isMarker ? null : { offset, column: offset - lineStart };
    }
  }
  return null;
}
