import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** A few lines: most of what is read beyond a line break is read again by the thread that judges it. */
const SEARCH_BYTES = 1 << 13;
const NEWLINE = 10;

/** A part of a file, in bytes: it has the lines whose first byte is in it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Bytes of an open file, which all threads of the process can read. */
export interface FilePart extends Range {
  readonly file: number;
}

/** Opens a regular file, which can be read anywhere; null for all others, which are streams. */
export function openRegular(path: string): number | null {
  return statSync(path).isFile() ? openSync(path, 'r') : null;
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

/** The bytes of the lines that begin in a range. */
export function wholeLines(file: number, { from, to }: Range): Range {
  if (from >= to) return { from, to: from };
  return { from: lineStart(file, from), to: lineStart(file, to) };
}

/** The first byte from `at` on that begins a line, which is after a line break; the end of the file if there is none. */
function lineStart(file: number, at: number): number {
  if (at === 0) return 0;
  const buffer = Buffer.allocUnsafe(SEARCH_BYTES);
  for (let from = at - 1; ;) {
    const read = readSync(file, buffer, 0, buffer.length, from);
    const end = buffer.subarray(0, read).indexOf(NEWLINE);
    if (end >= 0) return from + end + 1;
    if (read === 0) return from;
    from += read;
  }
}

/** Reads parts of files into one buffer: what it returns is valid until the next call. */
export function partReader(): (part: FilePart) => Buffer {
  let buffer = Buffer.alloc(0);
  return ({ file, from, to }) => {
    const bytes = to - from;
    if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes);
    for (let filled = 0; filled < bytes;) {
      const read = readSync(file, buffer, filled, bytes - filled, from + filled);
      if (read === 0) throw new Error('it was truncated while it was read');
      filled += read;
    }
    return buffer.subarray(0, bytes);
  };
}
