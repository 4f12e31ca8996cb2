import { Transform, type TransformCallback } from 'node:stream';

/** What the library behind it accepts. */
const LIMIT_MIB = 10;
const LIMIT_BYTES = LIMIT_MIB * 2 ** 20;
const LINE_FEED = 0x0a;
/** JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_700, message: 'Parse error: a message is one line of JSON' },
};

/**
 * Passes on messages, one a line. Those that are not JSON are answered here, because the library ignores them. Fails
 * after a longer message than the library accepts: where the next one begins is not known then.
 */
export class JsonLines extends Transform {
  readonly #refuse: (answer: string) => void;
  /** The part of a line that has come. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Whether it failed after such a message. */
  isTooLong = false;

  constructor(refuse: (answer: string) => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(LINE_FEED, at);
      const part = chunk.subarray(at, end < 0 ? chunk.length : end + 1);
      at += part.length;
      this.#parts.push(part);
      this.#bytes += part.length;
      if (this.#bytes > LIMIT_BYTES) {
        this.isTooLong = true;
        done(
          new Error(
            `a message of the client is longer than ${LIMIT_MIB} MiB; name a file instead of its text`,
          ),
        );
        return;
      }
      if (end >= 0) this.#pass(Buffer.concat(this.#parts.splice(0)));
    }
    done();
  }

  #pass(line: Buffer): void {
    this.#bytes = 0;
    const text = line.toString('utf8').trim();
    if (text === '') return;
    if (isJson(text)) this.push(line);
    else this.#refuse(`${JSON.stringify(PARSE_ERROR)}\n`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
