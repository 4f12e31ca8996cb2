import { closeSync, createReadStream, readSync } from 'node:fs';
import { type FilePart, type Range, openRegular, wholeLines } from './log_file.ts';

/** Longer lines cannot be records. */
const LINE_LIMIT_BYTES = 64 * 1_024 * 1_024;
const READ_BYTES = 1 << 20;
const NEWLINE = 10;
const RETURN = 13;
const BACKSLASH = 92;

/**
 * Receives whole lines of a log, without the last line break, the number of the first line, from 1, and where they are if the log is
 * a regular file. The bytes are valid until it resolves.
 */
export type TakePiece = (piece: Buffer, firstLine: number, part: FilePart | null) => void | Promise<void>;

export interface Reading {
  /** The part of a file that is read; default all. */
  readonly range?: Range | null;
  /** Awaited before the file is closed, for those who read parts of it later. */
  readonly finish?: () => Promise<void>;
}

const ALL: Range = { from: 0, to: Number.POSITIVE_INFINITY };

/**
 * Calls `take` with the lines of a file or of standard input (`-`), or of a part of a file, some hundred at a time and in order, and
 * awaits it; returns the number of lines. Only one buffer of lines is in memory. Rejects if the file cannot
 * be read or a line is too long.
 */
export async function eachPiece(
  path: string,
  take: TakePiece,
  { range = null, finish }: Reading = {},
): Promise<number> {
  const file = path === '-' ? null : openRegular(path);
  try {
    const lines =
      file === null
        ? await cutStream(path === '-' ? process.stdin : createReadStream(path), take)
        : await cutFile(file, range === null ? ALL : wholeLines(file, range), take);
    await finish?.();
    return lines;
  } finally {
    if (file !== null) closeSync(file);
  }
}

async function cutFile(file: number, { from, to }: Range, take: TakePiece): Promise<number> {
  let at = from;
  const cutter = new Cutter(async (piece, firstLine) => {
    const part = { file, from: at, to: at + piece.length };
    at = part.to + 1;
    await take(piece, firstLine, part);
  });
  for (let position = from; position < to;) {
    const { room } = cutter;
    // Reading large pieces at once takes a fraction of the time of a stream, which reads on other threads.
    const read = readSync(file, room, 0, Math.min(room.length, to - position), position);
    if (read === 0) break;
    position += read;
    await cutter.filled(read);
    // Answers of threads, and signals, have their turn.
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return await cutter.end();
}

async function cutStream(stream: NodeJS.ReadableStream, take: TakePiece): Promise<number> {
  const cutter = new Cutter((piece, firstLine) => take(piece, firstLine, null));
  for await (const chunk of stream as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length;) {
      const copied = chunk.copy(cutter.room, 0, at);
      at += copied;
      await cutter.filled(copied);
    }
  return await cutter.end();
}

/** Cuts the bytes of a log at line breaks, in one buffer that is as long as the longest line. */
class Cutter {
  #bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  #used = 0;
  #lines = 0;
  readonly #give: (piece: Buffer, firstLine: number) => void | Promise<void>;

  constructor(give: (piece: Buffer, firstLine: number) => void | Promise<void>) {
    this.#give = give;
  }

  /** Where the next bytes belong; never empty. */
  get room(): Buffer {
    if (this.#used === this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafeSlow(this.#used)]);
    return this.#bytes.subarray(this.#used);
  }

  /** Gives the lines that end in the bytes that have been put into the room. */
  async filled(count: number): Promise<void> {
    const before = this.#used;
    this.#used += count;
    const end = lastEnd(this.#bytes.subarray(0, this.#used), before);
    if (end < 0) {
      if (this.#used > LINE_LIMIT_BYTES) throw new Error(`line ${this.#lines + 1} is longer than 64 MiB`);
      return;
    }
    await this.#cut(end);
    this.#bytes.copyWithin(0, end + 1, this.#used);
    this.#used -= end + 1;
  }

  /** Gives the last line, and returns the number of lines. */
  async end(): Promise<number> {
    const isEnded = this.#bytes[this.#used - 1] === NEWLINE;
    if (this.#used > 0) await this.#cut(isEnded ? this.#used - 1 : this.#used);
    return this.#lines;
  }

  async #cut(end: number): Promise<void> {
    const piece = this.#bytes.subarray(0, end);
    await this.#give(piece, this.#lines + 1);
    this.#lines += linesIn(piece);
  }
}

/** The last line break from an index on that ends a record: a backslash before a break continues the line. */
function lastEnd(bytes: Buffer, from: number): number {
  const added = bytes.subarray(from);
  let end = added.lastIndexOf(NEWLINE);
  while (end >= 0 && bytes[from + end - 1] === BACKSLASH)
    end = end === 0 ? -1 : added.lastIndexOf(NEWLINE, end - 1);
  return end < 0 ? -1 : from + end;
}

function linesIn(piece: Buffer): number {
  let lines = 1;
  for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, end + 1)) lines++;
  return lines;
}

/** Calls `take` with the bounds of each line of a piece, without its line break. */
export function boundsOfLines(
  piece: Buffer,
  firstLine: number,
  take: (from: number, to: number, number: number) => void,
): void {
  let number = firstLine;
  for (let from = 0; from <= piece.length; number++) {
    const found = piece.indexOf(NEWLINE, from);
    const end = found < 0 ? piece.length : found;
    take(from, end > from && piece[end - 1] === RETURN ? end - 1 : end, number);
    from = end + 1;
  }
}

/** Calls `take` with each line of a file or of standard input (`-`), in order, without its line break. */
export function eachLine(path: string, take: (line: string, number: number) => void): Promise<number> {
  return eachPiece(path, (piece, firstLine) =>
    boundsOfLines(piece, firstLine, (from, to, number) => take(piece.toString('utf8', from, to), number)),
  );
}
