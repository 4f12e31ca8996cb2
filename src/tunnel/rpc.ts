import { ReadBuffer } from '../io/read_buffer.ts';
import type { Refusal } from './binding/members.ts';

/** Calls of agents: one JSON object on a stream of its own, without a length and without an end. */

/** Longest JSON text of an agent, in bytes; policies, certificates and keys are part of it. */
const MAX_BYTES = 1_048_576;
/** Deepest nesting; what reads and writes JSON later is recursive. */
const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const OBJECT = 0x7b;

/** Collects one JSON object from bytes in any division, and finds its end. */
export class JsonCollector {
  readonly #maxBytes: number;
  /** Joined, so that a request in many small frames takes no more memory than its bytes. */
  readonly #held = new ReadBuffer();
  #depth = 0;
  #inText = false;
  #isEscaped = false;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the object when it is complete, null while it is not; `problem` says why it never will be. */
  add(bytes: Buffer): { readonly value: unknown } | { readonly problem: string } | null {
    const held = this.#held;
    if (held.length === 0 && bytes.length > 0 && bytes[0] !== OBJECT)
      return { problem: 'a request must be a JSON object' };
    if (held.length + bytes.length > this.#maxBytes)
      return { problem: `a request may have at most ${this.#maxBytes} bytes` };
    held.add(bytes);
    held.keep(); // as a copy: a view would keep the whole read in memory
    const ends = this.#ends(bytes);
    if (this.#depth > MAX_DEPTH)
      return { problem: `a request may be nested at most ${MAX_DEPTH} levels deep` };
    if (!ends) return null;
    try {
      return { value: JSON.parse(held.unread.toString('utf8')) };
    } catch {
      return { problem: 'a request is not valid JSON' };
    }
  }

  #ends(bytes: Buffer): boolean {
    for (const byte of bytes) {
      if (this.#inText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inText = false;
      } else if (byte === QUOTE) this.#inText = true;
      else if (OPENING.has(byte)) {
        if (++this.#depth > MAX_DEPTH) return false;
      } else if (CLOSING.has(byte) && --this.#depth <= 0) return true;
    }
    return false;
  }
}

/** Part of the protocol, whatever the service is called: agents take no other line for a code. */
const CODE_PREFIX = 'ERR_NGROK_';

/** The text of a refusal, in which agents find the code: on a line of its own. */
export function refusalText({ number, message }: Refusal): string {
  return `${message}\r\n\r\n${CODE_PREFIX}${number}\r\n`;
}
