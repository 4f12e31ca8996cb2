import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from './catalogue.ts';
import { eventJson } from './json.ts';
import { type LineFile, openLineFile } from './line_file.ts';
import { type LostEvents, lostEvents, toStandardError } from './lost.ts';

/** Where events go: one JSON object a line. */
export interface EventSink {
  readonly write: (event: HttpRequestCompleteEvent | TcpConnectionClosedEvent) => void;
  /** Settles when everything is written, or when it is known to be lost. */
  readonly close: () => Promise<void>;
}

export interface NdjsonOptions {
  /** Where losses are counted; default a count of its own that tells standard error. */
  readonly lost?: LostEvents;
  /** Told when the file cannot be written, and when it can again; default standard error. */
  readonly say?: (line: string) => void;
  /** Bytes that wait for the file at most; default 64 MiB. */
  readonly limitBytes?: number;
  /** Pause before a file that failed is tried again. */
  readonly retryMs?: number;
}

/** Lines go to the file together, up to this much at once, and wait for others no longer than this. */
const SLAB_BYTES = 262_144;
const LONGEST_WAIT_MS = 50;
/** Slabs that are kept for use again. */
const MOST_SPARE = 4;
/** Events are made text of in batches: code that runs many times in a row finds itself in the processor's caches. */
const BATCH = 32;
/** What waits for a file that is slower than the events or cannot be written; what comes then is lost and counted. */
const MOST_WAITING_BYTES = 64 * 1_048_576;

/**
 * Appends to a file, or writes to standard output for `-`. Rejects when the file cannot be opened. A full disk or a
 * reader that is gone never throws: the file is tried again, and what cannot wait for it is counted as lost.
 */
export async function ndjsonSink(path: string, options: NdjsonOptions = {}): Promise<EventSink> {
  const { say = toStandardError, limitBytes = MOST_WAITING_BYTES, retryMs } = options;
  const { lost = lostEvents(say) } = options;
  let isFailing = false;
  const file = await openLineFile(path, {
    limitBytes,
    ...(retryMs !== undefined && { retryMs }),
    failing: (problem) => {
      isFailing = true;
      say(`events cannot be written and wait: ${problem}`);
    },
    resumed: () => {
      isFailing = false;
      say('events are written again');
    },
    lost: (lines, problem) => lost.add(isFailing ? 'not_written' : 'too_slow', lines, problem),
  });
  const slab = new Slab(file, lost);
  return {
    write: (event) => slab.add(event),
    close: async () => {
      slab.flush();
      await file.close();
    },
  };
}

type Event = Parameters<EventSink['write']>[0];

/** Puts lines together for one write. */
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

  /** What is handed over is read later: the slab comes back when it was. */
  #handOver(): void {
    if (this.#to === 0) return;
    const bytes = this.#bytes;
    const isTaken = this.#file.write(bytes.subarray(0, this.#to), () => {
      if (this.#spare.length < MOST_SPARE) this.#spare.push(bytes);
    });
    if (isTaken) this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#to = 0;
  }
}
