import { alias, moveTo, quotedScalar } from './read_scalar.ts';
import { DEPTH_LIMIT, type Scanner, type YamlEntry, type YamlNode, type YamlScalar } from './yaml_tree.ts';

/**
 * A list or a map in brackets. Without its end it takes the lines that are deeper than what it belongs to.
 */
export function readFlow(scanner: Scanner, parent: number): YamlNode {
  return scanner.character === '[' ? list(scanner, parent) : map(scanner, parent);
}

function list(scanner: Scanner, parent: number): YamlNode {
  const start = scanner.at++;
  const items: (YamlNode | null)[] = [];
  while (moveOn(scanner, parent)) {
    const { character } = scanner;
    if (character === ']' || character === '}') {
      if (character === ']') scanner.at++;
      break;
    }
    if (character === ',') {
      scanner.at++;
      continue;
    }
    const item = element(scanner, parent);
    items.push(character === '{' || character === '[' ? item : single(scanner, parent, item));
  }
  return { kind: 'list', items, dashes: [], start, end: scanner.at };
}

/** `[a: b]` has maps with one entry each. */
function single(scanner: Scanner, parent: number, item: YamlNode | null): YamlNode | null {
  if (item?.kind !== 'scalar' || !isColon(scanner, item)) return item;
  const { value, end } = entryOf(scanner, parent, item);
  return { kind: 'map', entries: [{ key: item, value }], start: item.start, end };
}

function map(scanner: Scanner, parent: number): YamlNode {
  const start = scanner.at++;
  const entries: YamlEntry[] = [];
  while (moveOn(scanner, parent)) {
    const { character } = scanner;
    if (character === ']' || character === '}') {
      if (character === '}') scanner.at++;
      break;
    }
    if (character === ',' || character === ':') {
      scanner.at++;
      continue;
    }
    const key = element(scanner, parent);
    if (key?.kind !== 'scalar') continue;
    entries.push({ key, value: isColon(scanner, key) ? entryOf(scanner, parent, key).value : null });
  }
  return { kind: 'map', entries, start, end: scanner.at };
}

/** Whether a colon follows a key; after quotes it needs no space. */
function isColon(scanner: Scanner, { style, end }: YamlScalar): boolean {
  let colon = end;
  while (scanner.text[colon] === ' ') colon++;
  if (colon >= scanner.end || scanner.text[colon] !== ':') return false;
  return style !== 'plain' || isEndOfKey(scanner, colon);
}

function isEndOfKey(scanner: Scanner, colon: number): boolean {
  return scanner.isBlankAt(colon + 1) || ',[]{}'.includes(scanner.text[colon + 1]!);
}

function entryOf(scanner: Scanner, parent: number, key: YamlScalar): { value: YamlNode | null; end: number } {
  scanner.at = scanner.text.indexOf(':', key.end) + 1;
  if (!moveOn(scanner, parent) || ',]}'.includes(scanner.character)) return { value: null, end: scanner.at };
  const value = element(scanner, parent);
  return { value, end: value?.end ?? scanner.at };
}

/** Moves to the next content; false if it is not part of the brackets. */
function moveOn(scanner: Scanner, parent: number): boolean {
  scanner.skipToContent();
  if (scanner.isDone) return false;
  if (scanner.column > parent || scanner.text.slice(scanner.lineStart, scanner.at).trim() !== '') return true;
  return scanner.character === ']' || scanner.character === '}';
}

function element(scanner: Scanner, parent: number): YamlNode | null {
  const { character } = scanner;
  if (scanner.depth > DEPTH_LIMIT) {
    scanner.at++;
    return null;
  }
  if (character === '"' || character === "'") return quotedScalar(scanner, parent, true);
  if (character === '*') return alias(scanner);
  if (character === '&' || character === '!') return withProperty(scanner, parent);
  if (character !== '[' && character !== '{') return plain(scanner);
  scanner.depth++;
  const node = readFlow(scanner, parent);
  scanner.depth--;
  return node;
}

function withProperty(scanner: Scanner, parent: number): YamlNode | null {
  const word = /^[&!]([^\s[\]{},]*)/.exec(scanner.text.slice(scanner.at, scanner.at + 200))!;
  const anchor = scanner.character === '&' ? word[1] : undefined;
  scanner.at += word[0].length;
  if (!moveOn(scanner, parent) || ',]}'.includes(scanner.character)) return null;
  const node = element(scanner, parent);
  return node === null || anchor === undefined ? node : { ...node, anchor };
}

/** A text without quotes: it ends at brackets, commas, and a colon with a space. */
function plain(scanner: Scanner): YamlScalar {
  const start = scanner.at;
  let end = plainEnd(scanner, start);
  for (;;) {
    const rest = /^[ \t]*(?:\r?\n[ \t]*)+(?![\s,[\]{}#:"'-])/.exec(scanner.text.slice(end, end + 400));
    if (rest === null || scanner.text.slice(start, end).endsWith(':')) break;
    const next = end + rest[0].length;
    const further = next >= scanner.end ? next : plainEnd(scanner, next);
    // A line that is a key of its own lacks a comma before it.
    if (further === next || scanner.text[further] === ':') break;
    end = further;
  }
  moveTo(scanner, Math.max(end, start + 1));
  return { kind: 'scalar', style: 'plain', start, end: scanner.at };
}

function plainEnd(scanner: Scanner, start: number): number {
  const { text } = scanner;
  const lineEnd = scanner.lineEnd(start);
  let at = start;
  for (; at < lineEnd; at++) {
    const letter = text[at]!;
    if (',[]{}'.includes(letter)) break;
    if (letter === ':' && isEndOfKey(scanner, at)) break;
    if (letter === '#' && at > start && scanner.isBlankAt(at - 1)) break;
  }
  while (at > start && scanner.isBlankAt(at - 1)) at--;
  return at;
}
