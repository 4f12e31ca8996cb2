import { fstat, write } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorText } from '../diagnostics/message_text.ts';

/** Appends lines to a file in order. Failed writes are retried and resume with complete lines. */
export interface LineFile {
  /**
   * Queues lines, each with its line feed; the bytes must not change until `written`. False if the queue is
   * full: they are lost.
   */
  readonly write: (lines: Uint8Array, written?: () => void) => boolean;
  /** Writes the queue, with one more attempt if writing fails; always resolves. */
  readonly close: () => Promise<void>;
}

export interface LineFileOptions {
  /** Mode of a new file. */
  readonly mode?: number;
  /** Maximum size of the queue for a slow or failing file; default 64 MiB. */
  readonly limitBytes?: number;
  /** First delay before a failed write is retried; default 1 s. */
  readonly retryMs?: number;
  /** Called once when writing starts to fail, and when it succeeds again. */
  readonly failing?: (problem: string) => void;
  readonly resumed?: () => void;
  /** Called when lines are lost. */
  readonly lost: (lines: number, problem: string) => void;
}

const QUEUE_LIMIT_BYTES = 64 * 1_048_576;
const RETRY_MS = 1_000;
const LINE_FEED = 10;
const STANDARD_OUTPUT = 1;
/** Maximum time for writing after `close`. */
const CLOSE_MS = 5_000;
/** Delay before writing to a full pipe again. */
const FULL_MS = 20;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly written: () => void;
}

/** Identity and length of the file at an interrupted write. */
interface Place {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

/** Opens a file for appending; `-` is standard output. Rejects if it cannot be opened. */
export async function openLineFile(path: string, options: LineFileOptions): Promise<LineFile> {
  const writer = new Writer(path, options);
  await writer.open();
  await writer.beginLine(path);
  return { write: writer.add, close: () => writer.close() };
}

class Writer {
  readonly #path: string;
  readonly #options: LineFileOptions;
  readonly #queue: Waiting[] = [];
  #handle: FileHandle | null = null;
  #fd: number | null = null;
  #waitingBytes = 0;
  /** Number of bytes of the first queue entry that are already in the file. */
  #written = 0;
  #isBusy = false;
  #isClosing = false;
  #problem: string | null = null;
  /** Where the last write stopped within a line; null if unknown. */
  #place: Place | null = null;
  #timer: NodeJS.Timeout | undefined;
  #idle: () => void = () => {};

  constructor(path: string, options: LineFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    this.#handle = this.#path === '-' ? null : await open(this.#path, 'a', this.#options.mode);
    this.#fd = this.#handle?.fd ?? STANDARD_OUTPUT;
  }

  /** An earlier process may have been killed, or the disk full, in the middle of a line. */
  async beginLine(path: string): Promise<void> {
    if (this.#handle === null) return;
    const stats = await this.#handle.stat();
    if (!stats.isFile() || stats.size === 0) return;
    const reading = await open(path, 'r').catch(() => null);
    const isTorn = reading !== null && (await endsWithinLine(reading, stats.size));
    await reading?.close();
    if (isTorn) this.add(Uint8Array.of(LINE_FEED));
  }

  readonly add = (bytes: Uint8Array, written: () => void = () => {}): boolean => {
    const { limitBytes = QUEUE_LIMIT_BYTES } = this.#options;
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > limitBytes) {
      this.#options.lost(
        linesIn(bytes),
        this.#problem ?? 'events arrive faster than the file can be written',
      );
      return false;
    }
    this.#queue.push({ bytes, written });
    this.#waitingBytes += bytes.length;
    if (!this.#isBusy && this.#problem === null) void this.#drain();
    return true;
  };

  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    if (!this.#isBusy && this.#queue.length > 0) void this.#drain();
    if (this.#isBusy) await this.#untilIdle();
    const lines = this.#queue.reduce((sum, { bytes }) => sum + linesIn(bytes), 0);
    if (lines > 0) this.#options.lost(lines, this.#problem ?? 'the file cannot be written');
    this.#queue.length = 0;
    await this.#letGo();
  }

  /** A pipe without a reader accepts nothing; closing must not wait forever. */
  #untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Writes the queue; never rejects. */
  async #drain(): Promise<void> {
    this.#isBusy = true;
    try {
      if (this.#fd === null) await this.#reopen();
      while (this.#queue.length > 0) await this.#writeFirst();
    } catch (error) {
      await this.#fail(error);
    }
    this.#isBusy = false;
    this.#idle();
  }

  async #writeFirst(): Promise<void> {
    const { bytes, written } = this.#queue[0]!;
    while (this.#written < bytes.length) {
      const count = await this.#append(bytes.subarray(this.#written));
      this.#written += count;
    }
    this.#queue.shift();
    this.#waitingBytes -= bytes.length;
    this.#written = 0;
    written();
    if (this.#problem === null) return;
    this.#problem = null;
    this.#options.resumed?.();
  }

  #append(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      write(this.#fd!, bytes, 0, bytes.length, null, (error, count) => {
        if (error === null) resolve(count);
        else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), FULL_MS);
        else reject(error);
      });
    });
  }

  /** Continues an unchanged file where writing stopped; a replaced or longer file on a new line. */
  async #reopen(): Promise<void> {
    await this.open();
    if (this.#written === 0) return;
    const place = await placeOf(this.#fd!);
    const before = this.#place;
    if (place !== null && before !== null && isSame(place, before)) return;
    const { bytes } = this.#queue[0]!;
    const lineStart = bytes.lastIndexOf(LINE_FEED, this.#written - 1) + 1;
    const isTorn = lineStart < this.#written;
    this.#written = lineStart;
    if (isTorn && (place === null || place.size > 0)) await this.#append(Uint8Array.of(LINE_FEED));
  }

  async #fail(error: unknown): Promise<void> {
    const problem = errorText(error);
    if (this.#problem === null) this.#options.failing?.(problem);
    this.#problem = problem;
    this.#place = this.#fd === null ? this.#place : await placeOf(this.#fd);
    await this.#letGo();
    const isForGood = this.#path === '-' && (error as NodeJS.ErrnoException).code === 'EPIPE';
    if (isForGood) this.#giveUp(problem);
    else if (!this.#isClosing) {
      this.#timer = setTimeout(() => void this.#drain(), this.#options.retryMs ?? RETRY_MS);
      this.#timer.unref();
    }
  }

  /** The reader of a pipe is gone and cannot return. */
  #giveUp(problem: string): void {
    const lines = this.#queue.reduce((sum, { bytes }) => sum + linesIn(bytes), 0);
    this.#options.lost(lines, problem);
    this.#queue.length = 0;
    // Everything that follows is lost immediately.
    this.#waitingBytes = Number.POSITIVE_INFINITY;
  }

  async #letGo(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#fd = null;
    await handle?.close().catch(() => undefined);
  }
}

/** Whether a file of this size does not end with a line feed. */
export async function endsWithinLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== LINE_FEED;
}

function placeOf(fd: number): Promise<Place | null> {
  return new Promise((resolve) => {
    fstat(fd, (error, stats) => resolve(error === null ? stats : null));
  });
}

function isSame(one: Place, other: Place): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size;
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}
