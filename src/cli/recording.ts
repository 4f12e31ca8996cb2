import { InvalidArgumentError } from 'commander';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { RecordingSink } from '../replay/recording_sink.ts';
import { FileError } from '../project_files/load_config.ts';
import { errorText } from '../diagnostics/message_text.ts';

/** A recording in progress. */
export interface Recording {
  readonly sink: RecordingSink;
  readonly close: () => Promise<void>;
}

export interface RecordOptions {
  readonly record?: string;
  readonly recordBodies?: number;
  readonly redact?: readonly string[];
}

/** Opens the recording that the options name; null without one. Throws FileError. */
export async function recordingOf(config: EdgeConfig, options: RecordOptions): Promise<Recording | null> {
  const { record: path, recordBodies: bodyLimit = 65_536, redact = [] } = options;
  if (path === undefined) return null;
  const { recordingWriter } = await import('../replay/write_recording.ts');
  const { recordingSink } = await import('../replay/recording_sink.ts');
  const { redaction } = await import('../replay/redact.ts');
  try {
    const rules = redaction(redact, config);
    const writer = await recordingWriter({ path, redaction: rules, bodyLimit, nowMs: Date.now() });
    return { sink: recordingSink(writer.write, bodyLimit), close: writer.close };
  } catch (error) {
    throw new FileError(`cannot write ${path}: ${errorText(error)}`);
  }
}

export function readBytes(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a number of bytes.');
  return Number(text);
}

export function addName(name: string, before: readonly string[]): readonly string[] {
  return [...before, name];
}
