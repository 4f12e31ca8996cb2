import type { Kept as KeptFigures } from '../wire.ts';
import type { Kept, KeptExchange } from './kept.ts';

export interface StoreLimits {
  /** Default 64 MiB. */
  readonly limitBytes: number;
  /** Of one body; default 64 KiB. */
  readonly bodyLimitBytes: number;
}

const STORE_LIMITS: StoreLimits = { limitBytes: 67_108_864, bodyLimitBytes: 65_536 };

/** Rows kept while no page is open. */
const UNWATCHED_ROWS = 500;
/** How many rows can be pinned; their bytes count, too. */
const MAX_PINNED = 200;

/** The newest exchanges and connections, bounded in bytes. What leaves is counted. Pinned ones stay. */
export class Store {
  readonly limits: StoreLimits;
  /** Whether a page is open: without one, fewer are kept. */
  isWatched = false;
  /** Exchanges that were not observed, because there was no page and there were many. */
  unwatched = 0;
  #seq = 0;
  #bytes = 0;
  #dropped = 0;
  /** No row has a lower number, apart from those that are pinned. */
  #oldest = 1;
  readonly #all = new Map<number, Kept>();
  readonly #pinned = new Map<number, Kept>();

  constructor(limits: Partial<StoreLimits> = {}) {
    this.limits = { ...STORE_LIMITS, ...limits };
  }

  nextSeq(): number {
    return ++this.#seq;
  }

  get lastSeq(): number {
    return this.#seq;
  }

  add(kept: Kept): void {
    this.#all.set(kept.seq, kept);
    this.#bytes += kept.bytes;
    this.#bound();
  }

  /** Its size has changed. */
  resize(kept: Kept, bytes: number): void {
    const isHere = this.find(kept.seq) === kept;
    if (isHere) this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    if (isHere) this.#bound();
  }

  find(seq: number): Kept | undefined {
    return this.#all.get(seq) ?? this.#pinned.get(seq);
  }

  exchange(seq: number): KeptExchange | null {
    const found = this.find(seq);
    return found?.kind === 'exchange' ? found : null;
  }

  /** All, in ascending order. */
  list(): Kept[] {
    const list = [...this.#pinned.values(), ...this.#all.values()];
    return this.#pinned.size === 0 ? list : list.sort((a, b) => a.seq - b.seq);
  }

  /** The newest exchanges that have ended, newest first. */
  newest(count: number): KeptExchange[] {
    const found: KeptExchange[] = [];
    for (const kept of this.list().toReversed()) {
      if (kept.kind === 'exchange' && kept.isDone && found.push(kept) >= count) break;
    }
    return found;
  }

  /** False: too many are pinned. */
  pin(kept: Kept, isPinned: boolean): boolean {
    if (isPinned && !kept.isPinned && this.#pinned.size >= MAX_PINNED) return false;
    kept.isPinned = isPinned;
    if (kept.row !== null) kept.row = { ...kept.row, pinned: isPinned };
    const [from, to] = isPinned ? [this.#all, this.#pinned] : [this.#pinned, this.#all];
    if (from.delete(kept.seq)) to.set(kept.seq, kept);
    if (!isPinned) this.#sort();
    this.#oldest = Math.min(this.#oldest, kept.seq);
    return true;
  }

  /** Forgets all that have ended and are not pinned. */
  clear(): void {
    for (const kept of this.#all.values()) {
      if (kept.isDone) this.#forget(kept);
    }
  }

  figures(): KeptFigures {
    const { limitBytes, bodyLimitBytes } = this.limits;
    return {
      rows: this.#all.size + this.#pinned.size,
      bytes: this.#bytes,
      limitBytes,
      bodyLimitBytes,
      dropped: this.#dropped,
      unwatched: this.unwatched,
      pinned: [...this.#pinned.keys()],
    };
  }

  #bound(): void {
    const maxRows = this.isWatched ? Infinity : UNWATCHED_ROWS;
    while (this.#all.size > 0 && (this.#bytes > this.limits.limitBytes || this.#all.size > maxRows)) {
      // A map that is read from its beginning would pass all places whose entries have left.
      const oldest = this.#all.get(this.#oldest++);
      if (oldest === undefined) continue;
      this.#forget(oldest);
      this.#dropped++;
    }
  }

  #forget(kept: Kept): void {
    this.#all.delete(kept.seq);
    this.#bytes -= kept.bytes;
  }

  /** An unpinned row goes back to its place. */
  #sort(): void {
    const sorted = [...this.#all].sort(([a], [b]) => a - b);
    this.#all.clear();
    for (const [seq, kept] of sorted) this.#all.set(seq, kept);
  }
}
