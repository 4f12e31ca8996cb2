import { Transform, type TransformCallback } from 'node:stream';

/** Editors open no text of this size, even if each of its characters is escaped. */
const MESSAGE_LIMIT_BYTES = 128 * 2 ** 20;
/** The protocol has two headers, of some 60 bytes. */
const HEADER_LIMIT_BYTES = 8_192;
const HEADER_END = '\r\n\r\n';

/**
 * Passes on messages of the protocol: headers, an empty line, and as many bytes as `Content-Length` says. Fails at
 * headers without a valid length, because where the next message begins is not known then: the reader behind it would
 * wait forever, and keep all that comes.
 */
export class Framing extends Transform {
  /** The part of the headers that has come. */
  #header: Buffer = Buffer.alloc(0);
  /** What is still to come of a message. */
  #bodyBytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#bodyBytes > 0) {
        const taken = Math.min(this.#bodyBytes, chunk.length - at);
        this.#bodyBytes -= taken;
        at += taken;
        continue;
      }
      const before = this.#header.length;
      const header = Buffer.concat([this.#header, chunk.subarray(at, at + HEADER_LIMIT_BYTES)]);
      const end = header.indexOf(HEADER_END);
      const problem = end < 0 ? lengthProblem(header) : headerProblem(header.toString('latin1', 0, end));
      if (problem !== null) {
        done(new Error(`the editor does not follow the protocol: ${problem}`));
        return;
      }
      at += (end < 0 ? header.length : end + HEADER_END.length) - before;
      this.#header = end < 0 ? header : Buffer.alloc(0);
      if (end >= 0) this.#bodyBytes = lengthIn(header.toString('latin1', 0, end))!;
    }
    done(null, chunk);
  }
}

function lengthProblem({ length }: Buffer): string | null {
  return length <= HEADER_LIMIT_BYTES
    ? null
    : `the headers of a message are longer than ${HEADER_LIMIT_BYTES} bytes`;
}

function headerProblem(header: string): string | null {
  const length = lengthIn(header);
  if (length === null)
    return `headers have one Content-Length, in bytes, not ${JSON.stringify(header.slice(0, 200))}`;
  return length <= MESSAGE_LIMIT_BYTES
    ? null
    : `a message of ${length} bytes is longer than ${MESSAGE_LIMIT_BYTES} bytes`;
}

/** The length of the body; null if the headers are malformed. */
function lengthIn(header: string): number | null {
  const lines = header.split('\r\n');
  const lengths = lines.flatMap((line) => /^content-length:[ \t]*(\d+)[ \t]*$/i.exec(line)?.[1] ?? []);
  return lengths.length === 1 && lines.every((line) => line.includes(':')) ? Number(lengths[0]) : null;
}
