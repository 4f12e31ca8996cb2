import type { HttpRequestCompleteEvent } from './catalogue.ts';
import type { TcpConnectionClosedEvent } from './tcp_connection.ts';
import { type WriteStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';

/** Where events go: one JSON object a line. */
export interface EventSink {
  readonly write: (event: HttpRequestCompleteEvent | TcpConnectionClosedEvent) => void;
  /** Settles when everything is written. */
  readonly close: () => Promise<void>;
}

/** Appends to a file, or writes to standard output for `-`. Rejects when the file cannot be opened. */
export async function ndjsonSink(path: string): Promise<EventSink> {
  if (path === '-') {
    return {
      write: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`),
      close: async () => {},
    };
  }
  const stream: WriteStream = createWriteStream(path, { flags: 'a' });
  await once(stream, 'open');
  // A full disk must not end the process; the loss is said once.
  stream.on('error', (error) => process.stderr.write(`events are lost: ${error.message}\n`));
  return {
    write: (event) => void stream.write(`${JSON.stringify(event)}\n`),
    close: async () => {
      stream.end();
      await once(stream, 'close');
    },
  };
}
