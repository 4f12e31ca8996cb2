import type { EventFilter } from './filter.ts';
import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from './catalogue.ts';
import { eventJson } from './json.ts';
import { type LineFile, openLineFile } from './line_file.ts';
import { type LostEvents, lostEvents, toStandardError } from './lost.ts';

/** A destination of events: one JSON object per line. */
export interface EventSink {
  readonly write: (event: HttpRequestCompleteEvent | TcpConnectionClosedEvent) => void;
  /** Resolves when everything is written or known to be lost. */
  readonly close: () => Promise<void>;
}

/** A destination that also takes events that another process has serialised. */
export interface EventWriter extends EventSink {
  readonly writeJson: (event: string) => void;
}

export interface NdjsonOptions {
  /** Counts losses; default: a counter that reports to standard error. */
  readonly lost?: LostEvents;
  /** Called when writing fails and when it works again; default: standard error. */
  readonly say?: (line: string) => void;
  /** Maximum size of the queue; default 64 MiB. */
  readonly limitBytes?: number;
  /** Delay before a failed write is retried. */
  readonly retryMs?: number;
}

/** Lines are written together, up to this size, and wait at most this long. */
const SLAB_BYTES = 262_144;
const LONGEST_WAIT_MS = 50;
/** Number of slabs kept for reuse. */
const SPARE_LIMIT = 4;
/** Events are serialised in batches, which keeps the code in the processor's caches. */
const BATCH = 32;

/**
 * Appends to a file, or writes to standard output for `-`. Rejects if the file cannot be opened. A full disk
 * or a closed pipe never throws: writing is retried, and events beyond the queue are counted as lost.
 */
export async function ndjsonSink(path: string, options: NdjsonOptions = {}): Promise<EventWriter> {
  const { say = toStandardError, limitBytes, retryMs } = options;
  const { lost = lostEvents(say) } = options;
  let isFailing = false;
  const file = await openLineFile(path, {
    ...(limitBytes !== undefined && { limitBytes }),
    ...(retryMs !== undefined && { retryMs }),
    failing: (problem) => {
      isFailing = true;
      say(`writing events failed; they are queued: ${problem}`);
    },
    resumed: () => {
      isFailing = false;
      say('writing events works again');
    },
    lost: (lines, problem) => lost.add(isFailing ? 'not_written' : 'too_slow', lines, problem),
  });
  const slab = new Slab(file, lost);
  return {
    write: (event) => slab.add(event),
    writeJson: (event) => slab.addJson(event),
    close: async () => {
      slab.flush();
      await file.close();
    },
  };
}

type Event = Parameters<EventSink['write']>[0];

/** Collects lines for one write. */
class Slab {
  readonly #file: LineFile;
  readonly #lost: LostEvents;
  readonly #flush = (): void => this.flush();
  readonly #events: Event[] = [];
  readonly #spare: Buffer[] = [];
  #bytes: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #to = 0;
  #isTimed = false;

  constructor(file: LineFile, lost: LostEvents) {
    this.#file = file;
    this.#lost = lost;
  }

  add(event: Event): void {
    if (this.#events.push(event) >= BATCH) this.#writeDown();
    this.#flushSoon();
  }

  addJson(event: string): void {
    this.#line(`${event}\n`);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(this.#flush, LONGEST_WAIT_MS);
  }

  flush(): void {
    this.#isTimed = false;
    this.#writeDown();
    this.#handOver();
  }

  #writeDown(): void {
    for (const event of this.#events) {
      try {
        this.#line(`${eventJson(event)}\n`);
      } catch (error) {
        this.#lost.add('not_made', 1, String(error));
      }
    }
    this.#events.length = 0;
  }

  #line(line: string): void {
    const mostBytes = 3 * line.length;
    if (mostBytes > SLAB_BYTES - this.#to) this.#handOver();
    if (mostBytes <= SLAB_BYTES) this.#to += this.#bytes.write(line, this.#to);
    else this.#file.write(Buffer.from(line));
  }

  /** The file reads the slab later and then returns it. */
  #handOver(): void {
    if (this.#to === 0) return;
    const bytes = this.#bytes;
    const isTaken = this.#file.write(bytes.subarray(0, this.#to), () => {
      if (this.#spare.length < SPARE_LIMIT) this.#spare.push(bytes);
    });
    if (isTaken) this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#to = 0;
  }
}

/** A sink for the events that match the filter. */
export function filtered(sink: EventSink, filter: EventFilter | null): EventSink {
  if (filter === null) return sink;
  return { ...sink, write: (event) => void (filter.takes(event.object) && sink.write(event)) };
}
