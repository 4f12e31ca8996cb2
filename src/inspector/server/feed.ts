import type { ServerResponse } from 'node:http';
import type { FeedEvent, Revision, SecondStats } from '../wire.ts';
import type { Kept } from './kept.ts';
import type { RowFilter } from './row_filter.ts';
import type { Store } from './store.ts';
import type { Changes, Watch } from './watch.ts';

/** How long changes are collected for one event. */
const BATCH_MS = 50;
/** Exchanges that are open for longer than this are shown before they end. */
const SHOWN_AFTER_MS = 200;
const HEARTBEAT_MS = 10_000;
const ROWS_AN_EVENT = 500;
/** Rows that a page gets when it opens. */
const FIRST_ROWS = 1_000;
/** Bytes that may wait for a page that reads slowly. */
const WAITING_BYTES = 1_048_576;
export const MAX_PAGES = 16;

interface Page {
  readonly response: ServerResponse;
  readonly filter: RowFilter | null;
  missed: number;
}

/** What the feed reads of the inspector, which is made after it. */
export interface FeedSources {
  readonly store: Store;
  readonly watch: Watch;
  readonly nowMs: () => number;
  /** Takes the secrets of the configuration out of a JSON text. */
  readonly redactText: (json: string) => string;
  /** The configuration was replaced; returns what pages get. */
  readonly swapped: () => Revision;
}

/** Sends changes to the open pages: in batches, bounded, and nothing while no page is open. */
export class Feed implements Changes {
  readonly #pages = new Set<Page>();
  readonly #changed = new Set<Kept>();
  /** Open exchanges that pages have seen. */
  readonly #shown = new WeakSet<Kept>();
  #sources: FeedSources | null = null;
  #cursor = 1;
  #timer: NodeJS.Timeout | null = null;
  #nextHeartbeat = 0;

  /** Called once, before anything else. */
  attach(sources: FeedSources): void {
    this.#sources = sources;
  }

  readonly changed = (kept: Kept): void => {
    if (this.#pages.size > 0) this.#changed.add(kept);
  };

  readonly secondEnded = (stats: SecondStats): void => {
    if (this.#pages.size > 0) this.#tell({ type: 'stats', stats, kept: this.#from.store.figures() });
  };

  readonly swapped = (): void => {
    const revision = this.#from.swapped();
    this.#tell({ type: 'revision', revision });
  };

  get pages(): number {
    return this.#pages.size;
  }

  /** Opens the feed of a page; `after` is the cursor that it has, null for a page without rows. */
  open(response: ServerResponse, after: number | null, filter: RowFilter | null): void {
    const page: Page = { response, filter, missed: 0 };
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    response.once('close', () => this.#leave(page));
    this.#flush();
    this.#pages.add(page);
    this.#from.store.isWatched = true;
    this.#sendKept(page, after);
    this.#timer ??= setInterval(() => this.#turn(), BATCH_MS);
  }

  cleared(upTo: number): void {
    this.#tell({ type: 'cleared', upTo });
  }

  close(): void {
    this.#tell({ type: 'end' });
    for (const { response } of this.#pages) response.end();
    this.#stop();
  }

  get #from(): FeedSources {
    return this.#sources!;
  }

  #leave(page: Page): void {
    this.#pages.delete(page);
    if (this.#pages.size === 0) this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#changed.clear();
    this.#from.store.isWatched = false;
  }

  #turn(): void {
    const { watch, nowMs } = this.#from;
    const now = performance.now();
    for (const kept of watch.openSince(now - SHOWN_AFTER_MS)) {
      if (this.#shown.has(kept) && kept.frames === null) continue;
      this.#shown.add(kept);
      this.#changed.add(kept);
    }
    this.#flush();
    for (const page of this.#pages) this.#tellMissed(page);
    watch.seconds.turn(nowMs());
    if (now < this.#nextHeartbeat) return;
    this.#nextHeartbeat = now + HEARTBEAT_MS;
    for (const { response } of this.#pages) response.write(':\n\n');
  }

  #flush(): void {
    if (this.#changed.size === 0) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (let at = 0; at < changed.length; at += ROWS_AN_EVENT) {
      const batch = changed.slice(at, at + ROWS_AN_EVENT);
      const cursor = ++this.#cursor;
      for (const kept of batch) kept.cursor = cursor;
      let whole: string | null = null;
      for (const page of this.#pages) {
        if (page.filter !== null) this.#sendRows(page, taken(batch, page.filter), cursor);
        else this.#send(page, (whole ??= this.#textOf(batch, cursor)), batch.length);
      }
    }
  }

  #sendKept(page: Page, after: number | null): void {
    const all = this.#from.store.list();
    const wanted = after === null ? all : all.filter(({ cursor }) => cursor === 0 || cursor > after);
    const newest = wanted.slice(-FIRST_ROWS);
    for (const kept of newest) if (kept.cursor === 0) kept.cursor = this.#cursor;
    const older = wanted.length - newest.length;
    if (after !== null && older > 0) page.missed += older;
    const rows = page.filter === null ? newest : taken(newest, page.filter);
    for (let at = 0; at < rows.length; at += ROWS_AN_EVENT)
      this.#sendRows(page, rows.slice(at, at + ROWS_AN_EVENT), this.#cursor);
  }

  #sendRows(page: Page, rows: readonly Kept[], cursor: number): void {
    if (rows.length > 0) this.#send(page, this.#textOf(rows, cursor), rows.length);
  }

  /** Sends rows, or counts them for a page that still has too much to read. */
  #send(page: Page, text: string, rows: number): void {
    if (page.response.writableLength > WAITING_BYTES) {
      page.missed += rows;
      return;
    }
    this.#tellMissed(page);
    this.#write(page, text);
  }

  /** Counts what a page was not sent, as soon as it reads again. */
  #tellMissed(page: Page): void {
    if (page.missed === 0 || page.response.writableLength > WAITING_BYTES) return;
    this.#write(page, this.#eventText({ type: 'missed', count: page.missed }));
    page.missed = 0;
  }

  #textOf(batch: readonly Kept[], cursor: number): string {
    return `id: ${cursor}\n${this.#eventText({ type: 'rows', rows: batch.map(this.#from.watch.rowToSend) })}`;
  }

  #tell(event: FeedEvent): void {
    if (this.#pages.size === 0) return;
    const text = this.#eventText(event);
    for (const page of this.#pages) {
      // Events besides rows are few; a page that does not even read those is behind anyway.
      if (page.response.writableLength <= 2 * WAITING_BYTES) this.#write(page, text);
    }
  }

  #eventText(event: FeedEvent): string {
    return `data: ${this.#from.redactText(JSON.stringify(event))}\n\n`;
  }

  #write({ response }: Page, text: string): void {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  }
}

function taken(batch: readonly Kept[], filter: RowFilter): readonly Kept[] {
  return batch.filter(({ event }) => event !== null && filter.takes(event.object));
}
