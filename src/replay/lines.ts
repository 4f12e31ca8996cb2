import { closeSync, createReadStream, openSync, readSync } from 'node:fs';

/** Longer lines cannot be records; they are truncated and marked. */
const LINE_LIMIT_BYTES = 64 * 1_024 * 1_024;
const CHUNK_BYTES = 1 << 16;
const NEWLINE = 10;
const BACKSLASH = 92;

/** Receives whole lines of a log, without the last line break, and the number of the first line, from 1. */
export type TakePiece = (piece: Buffer, firstLine: number) => void | Promise<void>;

/** A part of a file, in bytes: it has the lines whose first byte is in it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The lines of a part of a file, as its bytes. A line begins after the line break before it, so reading starts at the byte before
 * the range, and ends with the first line break from the last byte of the range on.
 */
async function* bytesOfRange(path: string, { from, to }: Range): AsyncGenerator<Buffer> {
  if (from >= to) return;
  let at = Math.max(0, from - 1);
  let isInside = from === 0;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, start: at })) {
    let bytes = chunk as Buffer;
    const chunkAt = at;
    at += bytes.length;
    let skipped = 0;
    if (!isInside) {
      const first = bytes.indexOf(NEWLINE);
      if (first < 0) {
        if (at >= to) return;
        continue;
      }
      isInside = true;
      skipped = first + 1;
      if (chunkAt + skipped >= to) return;
    }
    const end = at < to ? -1 : bytes.indexOf(NEWLINE, Math.max(skipped, to - 1 - chunkAt));
    bytes = bytes.subarray(skipped, end < 0 ? bytes.length : end + 1);
    if (bytes.length > 0) yield bytes;
    if (end >= 0) return;
  }
}

/** The first bytes of a file, by which its form is known. */
export function beginningOf(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Calls `take` with the lines of a file or of standard input (`-`), or of a part of a file, some hundred at a time and in order, and
 * awaits it; returns the number of lines. Only one chunk and one line are in memory. Rejects if the file cannot
 * be read or a line is too long.
 */
export async function eachPiece(path: string, take: TakePiece, range: Range | null = null): Promise<number> {
  const source: AsyncIterable<Buffer> =
    path === '-'
      ? (process.stdin as AsyncIterable<Buffer>)
      : range === null
        ? createReadStream(path, { highWaterMark: CHUNK_BYTES })
        : bytesOfRange(path, range);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lines = 0;
  const give = async (piece: Buffer): Promise<void> => {
    await take(piece, lines + 1);
    lines += linesIn(piece);
  };
  for await (const chunk of source) {
    const last = lastEnd(chunk);
    if (last < 0) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > LINE_LIMIT_BYTES) throw new Error(`line ${lines + 1} is longer than 64 MiB`);
      continue;
    }
    // Cut at a line break, so that no character is split.
    const whole = chunk.subarray(0, last);
    const piece = waiting.length === 0 ? whole : Buffer.concat([...waiting, whole]);
    waiting = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    waitingBytes = chunk.length - last - 1;
    await give(piece);
  }
  if (waitingBytes > 0) await give(withoutEnd(Buffer.concat(waiting)));
  return lines;
}

/** The last line break that ends a record: a backslash before a break continues the line. */
function lastEnd(chunk: Buffer): number {
  let end = chunk.lastIndexOf(NEWLINE);
  while (end > 0 && chunk[end - 1] === BACKSLASH) end = chunk.lastIndexOf(NEWLINE, end - 1);
  return end;
}

function withoutEnd(piece: Buffer): Buffer {
  return piece.at(-1) === NEWLINE ? piece.subarray(0, -1) : piece;
}

function linesIn(piece: Buffer): number {
  let lines = 1;
  for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, end + 1)) lines++;
  return lines;
}

/** Calls `take` with each line of a piece, without its line break. */
export function linesOfPiece(
  piece: Buffer,
  firstLine: number,
  take: (line: string, number: number) => void,
): void {
  const text = piece.toString();
  let number = firstLine;
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    take(trimmed(text, from, end), number++);
    from = end + 1;
  }
  take(trimmed(text, from, text.length), number);
}

/** Calls `take` with each line of a file or of standard input (`-`), in order, without its line break. */
export function eachLine(path: string, take: (line: string, number: number) => void): Promise<number> {
  return eachPiece(path, (piece, firstLine) => linesOfPiece(piece, firstLine, take));
}

function trimmed(text: string, from: number, end: number): string {
  return text.slice(from, end > from && text.charCodeAt(end - 1) === 13 ? end - 1 : end);
}
