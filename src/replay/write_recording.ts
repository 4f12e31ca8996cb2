import { openLineFile } from '../events/line_file.ts';
import { type RecordedExchange, recordingHead } from './recording.ts';
import { redactExchange } from './redact.ts';
import type { Redaction } from './redaction.ts';
import { counted } from '../diagnostics/message_text.ts';

export interface RecordingOptions {
  readonly path: string;
  /** The redaction at the moment: it grows with the configurations. */
  readonly redaction: () => Redaction;
  /** Maximum number of bytes kept of one body. */
  readonly bodyLimit: number;
  readonly nowMs: number;
}

export interface RecordingWriter {
  readonly write: (exchange: RecordedExchange) => void;
  /** Settles when everything is written, or when it is known to be lost. */
  readonly close: () => Promise<void>;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Appends redacted exchanges to a file that only its owner may read. Rejects when it cannot be opened. A full disk
 * ends nothing: the file is tried again, and each loss is reported.
 */
export async function recordingWriter(options: RecordingOptions): Promise<RecordingWriter> {
  const { path, redaction, bodyLimit, nowMs } = options;
  let lost = 0;
  const file = await openLineFile(path, {
    mode: 0o600,
    failing: (problem) => say(`exchanges cannot be written and wait: ${problem}`),
    resumed: () => say(`exchanges are written again; ${lost} were lost`),
    lost: (lines, problem) => {
      if (lost === 0) say(`exchanges are lost: ${problem}`);
      lost += lines;
    },
  });
  const write = (line: string): void => void file.write(Buffer.from(`${line}\n`));
  write(JSON.stringify(recordingHead(nowMs, [...redaction().names].sort(), bodyLimit)));
  return {
    write: (exchange) => write(JSON.stringify({ exchange: redactExchange(exchange, redaction()) })),
    close: async () => {
      await file.close();
      if (lost > 0) say(`${counted(lost, 'exchange was', 'exchanges were')} lost`);
    },
  };
}
