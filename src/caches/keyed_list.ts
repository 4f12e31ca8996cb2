/** Items with ascending keys, or without keys. */
interface Chunk<Item> {
  readonly keys: readonly string[];
  readonly items: readonly Item[];
}

/** A change costs about as much as copying one chunk and the list of chunks. */
const CHUNK = 256;

/** What differs between two versions of a list. */
export interface ListChange<Item> {
  readonly removed: readonly Item[];
  readonly added: readonly Item[];
}

/**
 * An immutable list in the order of its keys. A changed version shares with its predecessor all chunks that did not
 * change, and so is compared with it without visiting them.
 */
export class KeyedList<Item> implements Iterable<Item> {
  readonly #chunks: readonly Chunk<Item>[];
  readonly length: number;

  private constructor(chunks: readonly Chunk<Item>[]) {
    this.#chunks = chunks;
    this.length = chunks.reduce((sum, { items }) => sum + items.length, 0);
  }

  /** Builds a list from ascending keys and their items; without keys, `with` cannot be used. */
  static of<Item>(items: readonly Item[], keys: readonly string[] = []): KeyedList<Item> {
    return new KeyedList(cut({ keys, items }));
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (const { items } of this.#chunks) yield* items;
  }

  /** All items, in a new array. */
  toArray(): Item[] {
    return this.#chunks.flatMap(({ items }) => items);
  }

  indexOf(item: Item): number {
    let before = 0;
    for (const { items } of this.#chunks) {
      const index = items.indexOf(item);
      if (index >= 0) return before + index;
      before += items.length;
    }
    return -1;
  }

  /** The list with other items for some keys; null removes the item of a key. */
  with(changes: ReadonlyMap<string, Item | null>): KeyedList<Item> {
    const sorted = [...changes].sort(([one], [other]) => (one < other ? -1 : 1));
    const ofChunks = Map.groupBy(sorted, ([key]) => this.#chunkOf(key));
    if (this.#chunks.length === 0) return new KeyedList(cut(merged({ keys: [], items: [] }, sorted)));
    const next = this.#chunks.flatMap((chunk, index) => {
      const changed = ofChunks.get(index);
      return changed === undefined ? [chunk] : cut(merged(chunk, changed));
    });
    return new KeyedList(next);
  }

  /** Index of the chunk that a key belongs to: the last one that begins at or before it. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle]!.keys[0]! <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The items that another list does not have, and those that only it has. Shared chunks are not visited. */
  changeFrom(former: KeyedList<Item>): ListChange<Item> {
    const before = itemsOutside(former.#chunks, this.#chunks);
    const now = itemsOutside(this.#chunks, former.#chunks);
    return {
      removed: Array.from(before).filter((item) => !now.has(item)),
      added: Array.from(now).filter((item) => !before.has(item)),
    };
  }
}

function itemsOutside<Item>(chunks: readonly Chunk<Item>[], others: readonly Chunk<Item>[]): Set<Item> {
  const shared = new Set(others);
  return new Set(chunks.flatMap((chunk) => (shared.has(chunk) ? [] : chunk.items)));
}

function merged<Item>(
  { keys, items }: Chunk<Item>,
  changes: readonly (readonly [key: string, item: Item | null])[],
): Chunk<Item> {
  const next = { keys: [] as string[], items: [] as Item[] };
  let at = 0;
  const copyUntil = (isEnd: (key: string) => boolean): void => {
    for (; at < keys.length && !isEnd(keys[at]!); at++) {
      next.keys.push(keys[at]!);
      next.items.push(items[at]!);
    }
  };
  for (const [key, item] of changes) {
    copyUntil((each) => each >= key);
    if (keys[at] === key) at++;
    if (item === null) continue;
    next.keys.push(key);
    next.items.push(item);
  }
  copyUntil(() => false);
  return next;
}

/** Chunks of equal size; none for nothing. */
function cut<Item>({ keys, items }: Chunk<Item>): Chunk<Item>[] {
  if (items.length === 0) return [];
  if (items.length <= 2 * CHUNK) return [{ keys, items }];
  const count = Math.ceil(items.length / CHUNK);
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [index, index + 1].map((each) => Math.floor((each * items.length) / count));
    return { keys: keys.slice(from, to), items: items.slice(from, to) };
  });
}
