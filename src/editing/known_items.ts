import { movedNode } from './moved_node.ts';
import type { ItemReader, ItemReading, PlacedItem, ReadItem, Scanner, YamlNode } from './yaml_tree.ts';

/** What differs between two texts: all before `start`, and all from `end` of the earlier one, is the same. */
interface Change {
  readonly start: number;
  readonly end: number;
  /** How far the text after it has moved. */
  readonly by: number;
}

/** Collects the items of a text while it is read, and gives those that are known of the text before a change. */
export class ItemsOfReading implements ItemReader {
  readonly #known: ReadonlyMap<number, PlacedItem>;
  #found: PlacedItem[] = [];

  constructor(known: ReadonlyMap<number, PlacedItem> = new Map()) {
    this.#known = known;
  }

  get found(): readonly PlacedItem[] {
    return this.#found;
  }

  /** The item at a marker, if it is known: then the scanner is at the next marker. */
  take(scanner: Scanner): PlacedItem | null {
    const placed = this.#known.get(scanner.at);
    if (placed === undefined) return null;
    const { item, by } = placed;
    if (item.column !== scanner.column || item.depth !== scanner.depth) return null;
    scanner.at = item.next + by;
    scanner.lineStart = scanner.at - item.column;
    this.#found.push(placed);
    return placed;
  }

  /** Reads an item whose marker is at `start`; null if its lines alone do not say where it ends. */
  read(scanner: Scanner, { start, column, node: read }: ItemReading): ReadItem {
    const outer = this.#found;
    this.#found = [];
    const { depth } = scanner;
    const node = read();
    const inner = this.#found;
    this.#found = outer;
    if (!isCertain(scanner, start, column)) {
      outer.push(...inner);
      return { node, placed: null };
    }
    const item = { start, next: scanner.at, column, depth, node, inner, derived: new Map() };
    const placed = { item, by: 0 };
    outer.push(placed);
    return { node, placed };
  }
}

export function nodeOf({ item, by }: PlacedItem): YamlNode | null {
  return movedNode(item.node, by);
}

/** Whether an item begins on a line of its own, has only deeper lines, and the next marker of its list follows. */
function isCertain(scanner: Scanner, start: number, column: number): boolean {
  const { text, at: next } = scanner;
  if (scanner.isDone || scanner.column !== column || !scanner.isDash) return false;
  const first = start - column;
  if (text[first - 1] !== '\n' || !isIndented(text, first, column)) return false;
  const last = next - column;
  for (let line = text.indexOf('\n', start) + 1; line > 0; line = text.indexOf('\n', line) + 1) {
    if (line >= last) return line === last && isIndented(text, line, column);
    if (!isIndented(text, line, column + 1) && !isBlank(text, line)) return false;
  }
  return false;
}

function isIndented(text: string, line: number, spaces: number): boolean {
  for (let at = line; at < line + spaces; at++) if (text.charCodeAt(at) !== 32) return false;
  return true;
}

function isBlank(text: string, line: number): boolean {
  for (let at = line; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10) return true;
    if (code !== 32 && code !== 13) return false;
  }
  return true;
}

/** The items whose lines a change has left alone, by the offsets of their markers after it. */
export function itemsAfter(
  items: readonly PlacedItem[],
  before: string,
  after: string,
): ReadonlyMap<number, PlacedItem> {
  const found = new Map<number, PlacedItem>();
  addKept(found, items, { moved: 0, change: changeOf(before, after) });
  return found;
}

function addKept(
  found: Map<number, PlacedItem>,
  items: readonly PlacedItem[],
  { moved, change }: { readonly moved: number; readonly change: Change },
): void {
  for (const { item, by: own } of items) {
    const by = moved + own;
    const { start, next, column, inner } = item;
    // The marker after it is read with the space behind it; the line break before it makes its line its own.
    if (next + by + 2 <= change.start) found.set(start + by, { item, by });
    else if (start + by - column > change.end)
      found.set(start + by + change.by, { item, by: by + change.by });
    else addKept(found, inner, { moved: by, change });
  }
}

/** Texts are compared in pieces of this length first. */
const PIECE = 1_024;

function changeOf(before: string, after: string): Change {
  const most = Math.min(before.length, after.length);
  const same = (at: number): boolean => before.slice(at, at + PIECE) === after.slice(at, at + PIECE);
  let start = 0;
  while (start + PIECE <= most && same(start)) start += PIECE;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let [end, newEnd] = [before.length, after.length];
  const by = newEnd - end;
  const sameBefore = (): boolean => before.slice(end - PIECE, end) === after.slice(newEnd - PIECE, newEnd);
  for (; Math.min(end, newEnd) - start >= PIECE && sameBefore(); newEnd -= PIECE) end -= PIECE;
  for (; end > start && newEnd > start; newEnd--) {
    if (before.charCodeAt(end - 1) !== after.charCodeAt(newEnd - 1)) break;
    end--;
  }
  return { start, end, by };
}
