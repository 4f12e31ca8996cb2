import { createReadStream } from 'node:fs';

/** A longer line is no record of ours: it is given in part, and marked. */
const LINE_LIMIT_BYTES = 64 * 1_024 * 1_024;
const CHUNK_BYTES = 1 << 18;
const NEWLINE = 10;

/**
 * Calls `take` with each line of a file or of standard input (`-`), in order, without its end; gives the number of
 * lines. Only one chunk and one line are in memory. Rejects when the file cannot be read, or a line is too long.
 */
export async function eachLine(path: string, take: (line: string, number: number) => void): Promise<number> {
  const source: AsyncIterable<Buffer> =
    path === '-'
      ? (process.stdin as AsyncIterable<Buffer>)
      : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let number = 0;
  for await (const chunk of source) {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last < 0) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > LINE_LIMIT_BYTES) throw new Error(`line ${number + 1} is longer than 64 MiB`);
      continue;
    }
    // Cut at a line's end, so that no character is cut in two.
    const whole = chunk.subarray(0, last);
    const text = waiting.length === 0 ? whole.toString() : Buffer.concat([...waiting, whole]).toString();
    waiting = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : [];
    waitingBytes = chunk.length - last - 1;
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      take(trimmed(text, from, end), ++number);
      from = end + 1;
    }
    take(trimmed(text, from, text.length), ++number);
  }
  if (waitingBytes > 0) take(Buffer.concat(waiting).toString().trimEnd(), ++number);
  return number;
}

function trimmed(text: string, from: number, end: number): string {
  return text.slice(from, end > from && text.charCodeAt(end - 1) === 13 ? end - 1 : end);
}
