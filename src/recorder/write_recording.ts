import { type WriteStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { type RecordedExchange, recordingHead } from './recording.ts';
import { type Redaction, redactExchange } from './redact.ts';

export interface RecordingOptions {
  readonly path: string;
  readonly redaction: Redaction;
  /** Bytes kept of one body. */
  readonly bodyLimit: number;
  readonly nowMs: number;
}

export interface RecordingWriter {
  readonly write: (exchange: RecordedExchange) => void;
  /** Settles when everything is written. */
  readonly close: () => Promise<void>;
}

/** Appends redacted exchanges to a file that only its owner may read. Rejects when it cannot be opened. */
export async function recordingWriter(options: RecordingOptions): Promise<RecordingWriter> {
  const { path, redaction, bodyLimit, nowMs } = options;
  const stream: WriteStream = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await once(stream, 'open');
  // A full disk must not end the process; the loss is said once.
  stream.on('error', (error) => process.stderr.write(`exchanges are lost: ${error.message}\n`));
  stream.write(`${JSON.stringify(recordingHead(nowMs, [...redaction.names].sort(), bodyLimit))}\n`);
  return {
    write: (exchange) =>
      void stream.write(`${JSON.stringify({ exchange: redactExchange(exchange, redaction) })}\n`),
    close: async () => {
      stream.end();
      await once(stream, 'close');
    },
  };
}
