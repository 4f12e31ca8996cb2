import { fstat, write } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorText } from '../diagnostics/message_text.ts';

/** Lines on their way into a file, in order. A file that cannot be written is tried again, and goes on with whole lines. */
export interface LineFile {
  /** Takes lines, each with its line feed, and keeps the bytes until `written`. False when too much waits: they are lost. */
  readonly write: (lines: Uint8Array, written?: () => void) => boolean;
  /** Writes what waits, with one more attempt where the file cannot be written; settles in any case. */
  readonly close: () => Promise<void>;
}

export interface LineFileOptions {
  /** Mode of a file that is made. */
  readonly mode?: number;
  /** Bytes that wait at most. */
  readonly limitBytes: number;
  /** First pause before a file that failed is tried again; default 1 s. */
  readonly retryMs?: number;
  /** The file cannot be written, once for each time that this begins, and can be written again. */
  readonly failing?: (problem: string) => void;
  readonly resumed?: () => void;
  /** So many lines will never be written. */
  readonly lost: (lines: number, problem: string) => void;
}

const RETRY_MS = 1_000;
const LINE_FEED = 10;
const STANDARD_OUTPUT = 1;
/** How long writing may take after the file is to be closed. */
const CLOSE_MS = 5_000;
/** Pause before a pipe that is full is tried again. */
const FULL_MS = 20;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly written: () => void;
}

/** Where a write stopped: the file, and how long it was. */
interface Place {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

/** Opens a file to append to; `-` is standard output. Rejects when it cannot be opened. */
export async function openLineFile(path: string, options: LineFileOptions): Promise<LineFile> {
  const writer = new Writer(path, options);
  await writer.open();
  return { write: writer.add, close: () => writer.close() };
}

class Writer {
  readonly #path: string;
  readonly #options: LineFileOptions;
  readonly #queue: Waiting[] = [];
  #handle: FileHandle | null = null;
  #fd: number | null = null;
  #waitingBytes = 0;
  /** Bytes of the first in the queue that are in the file. */
  #written = 0;
  #isBusy = false;
  #isClosing = false;
  #problem: string | null = null;
  /** Where the last attempt stopped in the midst of a line; null when it is not known. */
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

  readonly add = (bytes: Uint8Array, written: () => void = () => {}): boolean => {
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > this.#options.limitBytes) {
      this.#options.lost(linesIn(bytes), this.#problem ?? 'the file is slower than they come');
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
    if (lines > 0) this.#options.lost(lines, this.#problem ?? 'the file takes nothing');
    this.#queue.length = 0;
    await this.#letGo();
  }

  /** A pipe that nobody reads takes nothing, and its writer must not wait for ever. */
  #untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Writes what waits; never rejects. */
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

  /** The same file goes on where it stopped; one that is another or has grown, on a fresh line. */
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

  /** A pipe whose reader is gone has none again. */
  #giveUp(problem: string): void {
    const lines = this.#queue.reduce((sum, { bytes }) => sum + linesIn(bytes), 0);
    this.#options.lost(lines, problem);
    this.#queue.length = 0;
    // So that all that comes is lost at once.
    this.#waitingBytes = Number.POSITIVE_INFINITY;
  }

  async #letGo(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#fd = null;
    await handle?.close().catch(() => undefined);
  }
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
