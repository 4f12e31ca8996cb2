import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { HttpRequestCompleteEvent } from './catalogue.ts';
import { eventJson } from './json.ts';
import type { TcpConnectionClosedEvent } from './tcp_connection.ts';

/** Where events go: one JSON object a line. */
export interface EventSink {
  readonly write: (event: HttpRequestCompleteEvent | TcpConnectionClosedEvent) => void;
  /** Settles when everything is written. */
  readonly close: () => Promise<void>;
}

/** Lines go to the file together, up to this much at once, and wait for others no longer than this. */
const SLAB_BYTES = 262_144;
const LONGEST_WAIT_MS = 50;
/** Slabs that are kept for use again. */
const MOST_SPARE = 4;
/** Events are made text of in batches: code that runs many times in a row finds itself in the processor's caches. */
const BATCH = 32;
/** What waits for a file that is slower than the events; what comes then is lost, and its loss is said. */
const MOST_WAITING_BYTES = 64 * 1_048_576;

/** Appends to a file, or writes to standard output for `-`. Rejects when the file cannot be opened. */
export async function ndjsonSink(path: string): Promise<EventSink> {
  if (path === '-') {
    return {
      write: (event) => void process.stdout.write(`${eventJson(event)}\n`),
      close: async () => {},
    };
  }
  const stream: WriteStream = createWriteStream(path, { flags: 'a' });
  await once(stream, 'open');
  // A full disk must not end the process; the loss is said once.
  stream.on('error', (error) => process.stderr.write(`events are lost: ${error.message}\n`));
  const slab = new Slab(stream);
  return {
    write: (event) => slab.add(event),
    close: async () => {
      slab.flush();
      stream.end();
      await once(stream, 'close');
    },
  };
}

type Event = Parameters<EventSink['write']>[0];

/** Puts lines together for one write. */
class Slab {
  readonly #stream: WriteStream;
  readonly #flush = (): void => this.flush();
  readonly #events: Event[] = [];
  readonly #spare: Buffer[] = [];
  #bytes: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #to = 0;
  #isTimed = false;
  #lost = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
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
    for (const event of this.#events) this.#line(`${eventJson(event)}\n`);
    this.#events.length = 0;
  }

  #line(line: string): void {
    const mostBytes = 3 * line.length;
    if (mostBytes > SLAB_BYTES - this.#to) this.#handOver();
    if (mostBytes <= SLAB_BYTES) this.#to += this.#bytes.write(line, this.#to);
    else if (this.#hasRoom()) this.#stream.write(line);
  }

  /** What is handed over is read later: the slab comes back when it was. */
  #handOver(): void {
    if (this.#to === 0) return;
    const bytes = this.#bytes;
    if (this.#hasRoom()) {
      this.#stream.write(bytes.subarray(0, this.#to), () => {
        if (this.#spare.length < MOST_SPARE) this.#spare.push(bytes);
      });
      this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
    }
    this.#to = 0;
  }

  #hasRoom(): boolean {
    if (this.#stream.writableLength <= MOST_WAITING_BYTES) return true;
    if (this.#lost++ === 0) process.stderr.write('events are lost: the file is slower than they come\n');
    return false;
  }
}
