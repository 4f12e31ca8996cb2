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
const SLAB_BYTES = 65_536;
const LONGEST_WAIT_MS = 50;
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
    write: (event) => slab.add(`${eventJson(event)}\n`),
    close: async () => {
      slab.flush();
      stream.end();
      await once(stream, 'close');
    },
  };
}

/** Puts lines together for one write. */
class Slab {
  readonly #stream: WriteStream;
  readonly #flush = (): void => this.flush();
  #bytes = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #from = 0;
  #to = 0;
  #lost = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  add(line: string): void {
    if (this.#stream.writableLength > MOST_WAITING_BYTES) {
      this.#lose();
      return;
    }
    const mostBytes = 3 * line.length;
    if (mostBytes > SLAB_BYTES - this.#to) this.#renew();
    if (mostBytes > SLAB_BYTES) {
      this.#stream.write(line);
      return;
    }
    if (this.#from === this.#to) setTimeout(this.#flush, LONGEST_WAIT_MS);
    this.#to += this.#bytes.write(line, this.#to);
  }

  flush(): void {
    if (this.#from === this.#to) return;
    this.#stream.write(this.#bytes.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  /** What was written may still be read by the system: it is left to that write. */
  #renew(): void {
    this.flush();
    this.#bytes = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#from = 0;
    this.#to = 0;
  }

  #lose(): void {
    if (this.#lost++ === 0) process.stderr.write('events are lost: the file is slower than they come\n');
  }
}
