import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { HashKey } from '../replay/keyed_hashes.ts';
import type { RecordingSink } from '../replay/recording_sink.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { secretBytes, secretText } from '../crypto/random.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';
import { OutputError } from './failure.ts';
import { writeText } from './write_file.ts';

/** A recording in progress. */
export interface Recording {
  readonly sink: RecordingSink;
  readonly close: () => Promise<void>;
}

/** Bytes kept of each body by default. */
export const BODY_BYTES = 65_536;

export interface RecordOptions {
  readonly record?: string;
  readonly recordBodies?: number;
  readonly redact?: readonly string[];
  readonly hashRedacted?: boolean;
  readonly hashKey?: string;
}

/**
 * Opens the recording that the options name; null without one. `config` is the configuration at the moment. Throws
 * FileError.
 */
export async function recordingOf(
  config: () => EdgeConfig,
  options: RecordOptions,
): Promise<Recording | null> {
  const { record: path, recordBodies: bodyLimit = BODY_BYTES, redact = [] } = options;
  if (path === undefined) return null;
  const key = await keyOf(options);
  const { recordingWriter } = await import('../replay/write_recording.ts');
  const { recordingSink } = await import('../replay/recording_sink.ts');
  const { GrowingRedaction } = await import('../replay/growing_redaction.ts');
  try {
    const growing = new GrowingRedaction(redact, key);
    let last: EdgeConfig | null = null;
    const redaction = () => {
      const now = config();
      if (now !== last) growing.add((last = now));
      return growing.rules();
    };
    const writer = await recordingWriter({ path, redaction, bodyLimit, nowMs: Date.now() });
    return { sink: recordingSink(writer.write, bodyLimit), close: writer.close };
  } catch (error) {
    throw new OutputError(fileFailure('write', path, error));
  }
}

/** The key of the hashes that replace redacted values: from a file, or one that is forgotten at the end. */
async function keyOf({ hashRedacted = false, hashKey: file }: RecordOptions): Promise<HashKey | null> {
  if (file === undefined && !hashRedacted) return null;
  const { hashKey } = await import('../replay/keyed_hashes.ts');
  if (file === undefined) return hashKey(secretBytes(KEY_BYTES));
  if (!existsSync(file)) {
    writeText(file, `${secretText(KEY_UNITS)}\n`, { isSecret: true, flag: 'wx' });
  }
  return readHashKey(file);
}

const KEY_BYTES = 32;
/** As text, with as many bits. */
const KEY_UNITS = 50;

/** The key in a file; throws FileError. White space around it does not count. */
export async function readHashKey(file: string): Promise<HashKey> {
  const { MIN_KEY_BYTES, hashKey } = await import('../replay/keyed_hashes.ts');
  const text = readText(file).trim();
  if (Buffer.byteLength(text) < MIN_KEY_BYTES)
    throw new FileError(`the key ${file} is too short: it needs at least ${MIN_KEY_BYTES} bytes`);
  return hashKey(Buffer.from(text));
}

export function readBytes(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a number of bytes.');
  return Number(text);
}
