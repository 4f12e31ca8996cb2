import { ItemsOfReading, itemsAfter, nodeOf } from './known_items.ts';
import { readFlow } from './read_flow.ts';
import { alias, blockScalar, plainScalar, quotedEnd, quotedScalar } from './read_scalar.ts';
import {
  DEPTH_LIMIT,
  type PlacedItem,
  Scanner,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from './yaml_tree.ts';

/** A text as it was read. */
export interface YamlReading {
  readonly text: string;
  readonly tree: YamlNode | null;
  /** Elements of its lists that need not be read again. */
  readonly items: readonly PlacedItem[];
}

/** Reads a text that was read before some of it has changed: its tree is that of `readYaml`, with nodes of the earlier one. */
export function readAgain(text: string, before: YamlReading | null): YamlReading {
  const items = new ItemsOfReading(before === null ? undefined : itemsAfter(before.items, before.text, text));
  const tree = treeOf(new Scanner(text, 0, text.length, items));
  return { text, tree, items: items.found };
}

/** The tree of a text, or of a part of one whose lines are its own, such as a block text. Null without content. */
export function readYaml(text: string, start = 0, end: number = text.length): YamlNode | null {
  return treeOf(new Scanner(text, start, end, new ItemsOfReading()));
}

function treeOf(scanner: Scanner): YamlNode | null {
  let root: YamlNode | null = null;
  for (scanner.skipToContent(); !scanner.isDone; scanner.skipToContent()) {
    const { at } = scanner;
    const next = nodeAt(scanner, -1);
    root = root === null ? next : joined(root, next);
    // Whatever cannot be read is left out.
    if (scanner.at === at) scanner.at = Math.max(scanner.lineEnd(), at + 1);
  }
  return root;
}

/** A map with the entries of lines after it that fit nothing else. */
function joined<Node extends YamlNode | null>(node: Node, next: YamlNode | null): Node {
  if (node?.kind !== 'map' || next?.kind !== 'map') return node;
  return { ...node, entries: [...node.entries, ...next.entries], end: next.end };
}

/** The node that begins here; `parent` is the indentation of what it belongs to. */
function nodeAt(scanner: Scanner, parent: number): YamlNode | null {
  if (scanner.depth > DEPTH_LIMIT) return null;
  scanner.depth++;
  try {
    const anchor = properties(scanner);
    if (scanner.isAtLineEnd) {
      scanner.skipToContent();
      return scanner.isDone || scanner.column <= parent ? null : anchored(nodeAt(scanner, parent), anchor);
    }
    if (scanner.isDash) return anchored(list(scanner), anchor);
    if (keyAt(scanner) !== null) return anchored(map(scanner), anchor);
    return anchored(inline(scanner, parent), anchor);
  } finally {
    scanner.depth--;
  }
}

function anchored(node: YamlNode | null, anchor: string | undefined): YamlNode | null {
  return node === null || anchor === undefined ? node : { ...node, anchor };
}

const PROPERTY = /(?:&([^\s[\]{},]+)|![^\s[\]{},]*)(?=[\s]|$)/y;

/** Skips anchors and tags; the name of the anchor. */
function properties(scanner: Scanner): string | undefined {
  let anchor: string | undefined;
  for (;;) {
    PROPERTY.lastIndex = scanner.at;
    const found = '&!'.includes(scanner.character || ' ') ? PROPERTY.exec(scanner.text) : null;
    if (found === null) return anchor;
    anchor = found[1] ?? anchor;
    scanner.at += found[0].length;
    scanner.skipSpaces();
  }
}

function list(scanner: Scanner): YamlNode {
  const { column, at: start, items: known } = scanner;
  const items: (YamlNode | null)[] = [];
  const dashes: number[] = [];
  const placed: (PlacedItem | null)[] = [];
  let end = start;
  while (!scanner.isDone && scanner.column === column && scanner.isDash) {
    const dash = scanner.at;
    const taken = known.take(scanner);
    const read =
      taken === null
        ? known.read(scanner, { start: dash, column, node: () => item(scanner, column) })
        : { node: nodeOf(taken), placed: taken };
    dashes.push(dash);
    items.push(read.node);
    placed.push(read.placed);
    end = read.node?.end ?? dash + 1;
  }
  return { kind: 'list', items, dashes, placed, start, end };
}

/** The element after a marker; moves to what comes after it. */
function item(scanner: Scanner, column: number): YamlNode | null {
  scanner.at++;
  scanner.skipSpaces();
  const node = nodeAt(scanner, column);
  skipRest(scanner, column);
  return node;
}

function map(scanner: Scanner): YamlMap {
  const { column, at: start } = scanner;
  const entries: YamlEntry[] = [];
  let end = start;
  while (!scanner.isDone && scanner.column === column && (entries.length === 0 || !scanner.isDash)) {
    const key = keyAt(scanner);
    if (key === null) {
      // A key without its colon.
      const half = plainLine(scanner);
      entries.push({ key: half, value: null });
      ({ end } = half);
      scanner.skipToContent();
      continue;
    }
    scanner.at = key.after;
    const value = valueAfter(scanner, column);
    end = value?.end ?? key.after;
    const extra = skipRest(scanner, column);
    entries.push({ key: key.key, value: joined(value, extra) });
    end = Math.max(end, extra?.end ?? 0);
  }
  return { kind: 'map', entries, start, end };
}

/** Moves to the next line that is not deeper than a block; the first node that was skipped. */
function skipRest(scanner: Scanner, column: number): YamlNode | null {
  let extra: YamlNode | null = null;
  scanner.skipSpaces();
  if (!scanner.isAtLineEnd && scanner.at > scanner.lineStart + column && !isFirstOfLine(scanner))
    scanner.at = scanner.lineEnd();
  for (scanner.skipToContent(); !scanner.isDone && scanner.column > column; scanner.skipToContent()) {
    const { at } = scanner;
    const node = nodeAt(scanner, column);
    extra ??= node;
    if (scanner.at === at) scanner.at = Math.max(scanner.lineEnd(), at + 1);
  }
  return extra;
}

function isFirstOfLine({ text, lineStart, at }: Scanner): boolean {
  return text.slice(lineStart, at).trim() === '';
}

function valueAfter(scanner: Scanner, column: number): YamlNode | null {
  scanner.skipSpaces();
  const anchor = properties(scanner);
  if (!scanner.isAtLineEnd) return anchored(inline(scanner, column), anchor);
  scanner.skipToContent();
  if (scanner.isDone) return null;
  if (scanner.column === column && scanner.isDash) return anchored(list(scanner), anchor);
  return scanner.column > column ? anchored(nodeAt(scanner, column), anchor) : null;
}

/** A value on the line of its key or marker. */
function inline(scanner: Scanner, parent: number): YamlNode | null {
  switch (scanner.character) {
    case '|':
    case '>':
      return blockScalar(scanner, parent);
    case '"':
    case "'":
      return quotedScalar(scanner, parent, false);
    case '[':
    case '{':
      return readFlow(scanner, parent);
    case '*':
      return alias(scanner);
    default:
      return plainScalar(scanner, parent, (offset) => keyAt(scanner, offset) !== null);
  }
}

function plainLine(scanner: Scanner): YamlScalar {
  const start = scanner.at;
  const line = scanner.text.slice(start, scanner.lineEnd());
  const comment = /\s#/.exec(line)?.index ?? line.length;
  const end = start + Math.max(1, line.slice(0, comment).trimEnd().length);
  scanner.at = scanner.lineEnd();
  return { kind: 'scalar', style: 'plain', start, end };
}

interface Key {
  readonly key: YamlScalar;
  /** Offset after the colon. */
  readonly after: number;
}

/** The key that begins at an offset; null if there is no colon after it on the line. */
function keyAt(scanner: Scanner, start: number = scanner.at): Key | null {
  const { text } = scanner;
  const first = text[start]!;
  if (first === '"' || first === "'") {
    const end = quotedEnd(text, start, scanner.lineEnd(start));
    if (end === null) return null;
    let colon = end;
    while (text[colon] === ' ') colon++;
    if (text[colon] !== ':' || colon >= scanner.end || !scanner.isBlankAt(colon + 1)) return null;
    const style = first === '"' ? 'double' : 'single';
    return { key: { kind: 'scalar', style, start, end }, after: colon + 1 };
  }
  if ('[]{},#&*!|>%@`'.includes(first)) return null;
  const lineEnd = scanner.lineEnd(start);
  for (
    let colon = text.indexOf(':', start);
    colon >= 0 && colon < lineEnd;
    colon = text.indexOf(':', colon + 1)
  ) {
    if (!scanner.isBlankAt(colon + 1)) continue;
    const before = text.slice(start, colon);
    if (before.includes(' #')) return null;
    const end = start + before.trimEnd().length;
    if (end === start) return null;
    return { key: { kind: 'scalar', style: 'plain', start, end }, after: colon + 1 };
  }
  return null;
}
