import { isUtf8 } from 'node:buffer';

/**
 * Server side of WebSocket frames (RFC 6455 §5), read from pieces of any size. Content of data frames is
 * passed on as it arrives; messages are not assembled, however long they are.
 */

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Close codes (RFC 6455 §7.4.1). */
export const CLOSE = {
  normal: 1000,
  protocol: 1002,
  invalid: 1007,
  tooBig: 1009,
  failed: 1011,
} as const;

const MAX_CONTROL = 125;
/** Marks a close frame without a code. */
const NO_CODE = 1005;
const NO_BYTES = new Uint8Array(0);

/** Receives what a client sends. */
export interface FrameTaker {
  /** Content of messages, unmasked; lent until this returns. */
  data(bytes: Uint8Array): void;
  ping(payload: Uint8Array): void;
  /** The client closes; 1005 without a code. */
  close(code: number): void;
}

/** A protocol error, with the close code for the client. */
export interface FrameProblem {
  readonly code: number;
  readonly message: string;
}

/** Reads the frames of a client. After a close frame or a problem it reads nothing more. */
export class FrameReader {
  problem: FrameProblem | null = null;
  hasClosed = false;
  readonly #taker: FrameTaker;
  /** The frame head as far as received: at most 14 bytes. */
  readonly #head = Buffer.alloc(14);
  #headBytes = 0;
  #opcode = 0;
  /** Remaining content of this frame; -1 while its head is read. */
  #left = -1;
  #maskAt = 0;
  #mask: Uint8Array = NO_BYTES;
  /** A fragmented message is in progress. */
  #isWithin = false;
  #control = Buffer.alloc(MAX_CONTROL);
  #controlBytes = 0;

  constructor(taker: FrameTaker) {
    this.#taker = taker;
  }

  read(bytes: Uint8Array): void {
    let at = 0;
    while (this.problem === null && !this.hasClosed) {
      if (this.#left < 0) {
        at = this.#readHead(bytes, at);
        if (this.#left < 0) return;
      }
      const end = Math.min(bytes.length, at + this.#left);
      if (end === at && this.#left > 0) return;
      this.#content(bytes.subarray(at, end));
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#frameEnds();
    }
  }

  /** Reads head bytes one by one: heads are short, and may arrive in any pieces. */
  #readHead(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && this.#left < 0 && this.problem === null) {
      this.#head[this.#headBytes++] = bytes[at++]!;
      if (this.#headBytes === 2 || this.#headBytes === this.#headLength()) this.#begin();
    }
    return at;
  }

  /** Length of the head as far as its first two bytes show. */
  #headLength(): number {
    if (this.#headBytes < 2) return 2;
    const short = this.#head[1]! & 0x7f;
    return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4;
  }

  #begin(): void {
    const head = this.#head;
    const first = head[0]!;
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    const short = head[1]! & 0x7f;
    // A head of two bytes: without a mask bit there is no mask to wait for.
    if ((head[1]! & 0x80) === 0) return this.#fail(CLOSE.protocol, 'a frame is not masked');
    if (this.#headBytes === 2) return;
    if ((first & 0x70) !== 0) return this.#fail(CLOSE.protocol, 'a reserved bit is set');
    const length =
      short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short;
    const least = short === 126 ? 126 : short === 127 ? 65_536 : 0;
    // RFC 6455 §5.2: lengths use the minimal number of bytes, and at most 63 bits.
    if (length < least || length > Number.MAX_SAFE_INTEGER)
      return this.#fail(CLOSE.protocol, 'the length of a frame does not use the minimal encoding');
    if (opcode >= OPCODE.close) {
      if (!isLast || length > MAX_CONTROL)
        return this.#fail(CLOSE.protocol, 'a control frame is fragmented or too long');
      if (opcode > OPCODE.pong) return this.#fail(CLOSE.protocol, 'the opcode of a frame is unknown');
    } else if (opcode > OPCODE.binary) {
      return this.#fail(CLOSE.protocol, 'the opcode of a frame is unknown');
    } else if ((opcode === OPCODE.continuation) !== this.#isWithin) {
      return this.#fail(CLOSE.protocol, 'a frame begins or continues a message out of order');
    } else this.#isWithin = !isLast;
    this.#opcode = opcode;
    this.#mask = Uint8Array.from(head.subarray(this.#headBytes - 4, this.#headBytes));
    this.#maskAt = 0;
    this.#left = length;
    this.#controlBytes = 0;
  }

  #content(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const clear = Buffer.allocUnsafe(piece.length);
    const mask = this.#mask;
    const from = this.#maskAt;
    for (let at = 0; at < piece.length; at++) clear[at] = piece[at]! ^ mask[(from + at) & 3]!;
    this.#maskAt = (from + piece.length) & 3;
    if (this.#opcode < OPCODE.close) this.#taker.data(clear);
    else {
      clear.copy(this.#control, this.#controlBytes);
      this.#controlBytes += clear.length;
    }
  }

  #frameEnds(): void {
    this.#left = -1;
    this.#headBytes = 0;
    if (this.#opcode === OPCODE.ping)
      this.#taker.ping(Uint8Array.from(this.#control.subarray(0, this.#controlBytes)));
    if (this.#opcode !== OPCODE.close) return;
    const hasCode = this.#controlBytes >= 2;
    const code = hasCode ? this.#control.readUInt16BE(0) : NO_CODE;
    if (this.#controlBytes === 1 || (hasCode && !isCloseCode(code)))
      return this.#fail(CLOSE.protocol, 'a close frame has a code that must not be sent');
    // RFC 6455 §8.1: a reason is UTF-8.
    if (hasCode && !isUtf8(this.#control.subarray(2, this.#controlBytes)))
      return this.#fail(CLOSE.invalid, 'the reason of a close frame is not UTF-8');
    this.hasClosed = true;
    this.#taker.close(code);
  }

  #fail(code: number, message: string): void {
    this.problem = { code, message };
  }
}

/** RFC 6455 §7.4: codes allowed in a frame. */
function isCloseCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006;
}

/** The head of a server frame: not fragmented, not masked. */
export function frameHead(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | opcode, length]);
  if (length < 65_536) return Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** A close frame; 1005 means that it has no code. */
export function closeFrame(code: number): Buffer {
  if (code === NO_CODE) return frameHead(OPCODE.close, 0);
  return Buffer.concat([frameHead(OPCODE.close, 2), Buffer.from([code >> 8, code & 0xff])]);
}
