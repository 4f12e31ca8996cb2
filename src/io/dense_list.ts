/** What can be in one list at a time. */
export interface Slotted {
  /** Its place in the list, -1 outside of it; only the list sets it. */
  slot: number;
}

/**
 * Items that come and go with requests or connections, in no order. A `Set` would keep them until V8 marks the whole heap: a
 * full table refers to the one that replaces it, so once one is old, all later ones become old, with what they contain
 * (docs/decisions/0062_dense_lists.md).
 */
export class DenseList<Item extends Slotted> implements Iterable<Item> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Nothing happens if the item is in the list. */
  add(item: Item): void {
    if (item.slot < 0) item.slot = this.#items.push(item) - 1;
  }

  /** The last item takes the free place. Nothing happens if the item is not in the list. */
  remove(item: Item): void {
    const { slot } = item;
    if (slot < 0) return;
    item.slot = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#items[slot] = last;
    last.slot = slot;
  }

  /** The first item that passes the test: this takes as long as the list is. */
  find(test: (item: Item) => boolean): Item | undefined {
    return this.#items.find(test);
  }

  /** Backwards, so that any items may leave meanwhile; one that stays may then come twice. */
  *[Symbol.iterator](): Generator<Item> {
    for (let slot = this.#items.length - 1; slot >= 0; slot--) {
      const item = this.#items[slot];
      if (item !== undefined) yield item;
    }
  }
}
