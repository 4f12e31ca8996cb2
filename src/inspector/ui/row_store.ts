import type { Row } from '../wire.ts';

type Predicate = (row: Row) => boolean;

/**
 * The rows of the page, at most `limit`, and those of them that the filter shows: ascending numbers. A batch costs what
 * it has, not what is there.
 */
export class RowStore {
  readonly #limit: number;
  #rows = new Map<number, Row>();
  /** Ascending; those before `#from` were dropped. */
  #order: number[] = [];
  #shown: number[] = [];
  #shows: Predicate = () => true;
  #shownIsStale = false;
  /** Rows that left the page for newer ones; the server may have them still. */
  dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(seq: number): Row | undefined {
    return this.#rows.get(seq);
  }

  /** The smallest number; null without rows. */
  get oldest(): number | null {
    return this.#order[0] ?? null;
  }

  add(rows: readonly Row[]): void {
    let isOrdered = true;
    for (const row of rows) {
      const before = this.#rows.get(row.seq);
      this.#rows.set(row.seq, row);
      if (before !== undefined) {
        if (this.#shows(before) !== this.#shows(row)) this.#shownIsStale = true;
        continue;
      }
      if (row.seq < (this.#order.at(-1) ?? 0)) isOrdered = false;
      this.#order.push(row.seq);
      if (this.#shows(row)) this.#shown.push(row.seq);
    }
    if (!isOrdered) {
      this.#order.sort((one, other) => one - other);
      this.#shownIsStale = true;
    }
    this.#trim();
  }

  #trim(): void {
    const excess = this.#order.length - this.#limit;
    // In larger steps, so that a row costs a constant.
    if (excess < this.#limit / 10) return;
    const leaving = this.#order.slice(0, excess);
    const pinned = leaving.filter((seq) => this.#rows.get(seq)!.pinned);
    for (const seq of leaving) if (!this.#rows.get(seq)!.pinned) this.#rows.delete(seq);
    this.#order = [...pinned, ...this.#order.slice(excess)];
    this.dropped += leaving.length - pinned.length;
    this.#shownIsStale = true;
  }

  /** Forgets what is not pinned, up to a number. */
  clear(upTo = Infinity): void {
    for (const [seq, row] of this.#rows) if (seq <= upTo && !row.pinned) this.#rows.delete(seq);
    this.#order = this.#order.filter((seq) => this.#rows.has(seq));
    this.#shownIsStale = true;
  }

  /** Forgets all rows: others are to come. */
  reset(): void {
    this.#rows = new Map();
    this.#order = [];
    this.#shown = [];
    this.dropped = 0;
  }

  show(predicate: Predicate): void {
    this.#shows = predicate;
    this.#shownIsStale = true;
  }

  /** Numbers of the rows that the filter shows, ascending; the array is not changed later. */
  shown(): readonly number[] {
    if (this.#shownIsStale) {
      this.#shown = this.#order.filter((seq) => this.#shows(this.#rows.get(seq)!));
      this.#shownIsStale = false;
    }
    return this.#shown.slice();
  }
}
