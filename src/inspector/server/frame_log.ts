import { isUtf8 } from 'node:buffer';
import { nodeZlib } from '../../loading/builtins.ts';
import type { Frame } from '../wire_detail.ts';

/** Limits of what is kept of the messages of one tunnel. */
const MAX_FRAMES = 500;
/** A longer message is kept in part. */
const FRAME_BYTES = 16_384;
/** A compressed message that is longer, or becomes longer, is not inflated, and neither are those after it. */
const INFLATE_BYTES = 1_048_576;
/**
 * What may be inflated per second, of all tunnels together: about 30 ms of the event loop. A message of 1 kB can become 1 MiB,
 * and its sender may be anyone.
 */
const INFLATED_BYTES_A_SECOND = 16 * 2 ** 20;
/** The fixed cost of inflating a message, as the number of bytes that take as long. */
const INFLATING_BYTES = 4_096;
/** How far a compressed message may refer back (RFC 7692, section 7.1.2). */
const WINDOW_BYTES = 32_768;
/** Ends what is inflated (RFC 7692, section 7.2.2). */
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);

const NAMES: Readonly<Record<number, string>> = { 1: 'text', 2: 'binary', 8: 'close', 9: 'ping', 10: 'pong' };

/** What may still be inflated in this second. */
export class InflateBudget {
  readonly #nowMs: () => number;
  #secondMs = Number.NEGATIVE_INFINITY;
  #left = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  hasLeft(): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#secondMs >= 1_000) {
      this.#secondMs = nowMs;
      this.#left = INFLATED_BYTES_A_SECOND;
    }
    return this.#left > 0;
  }

  take(bytes: number): void {
    this.#left -= bytes + INFLATING_BYTES;
  }
}

/**
 * The messages of a WebSocket in both directions, the newest ones, bounded in number and bytes. It only observes: what is
 * not a valid frame ends the reading of that direction.
 */
export class FrameLog {
  readonly #limitBytes: number;
  readonly #list: Frame[] = [];
  readonly #readers;
  readonly #beganMs: number;
  #bytes = 0;
  #dropped = 0;
  readonly passed = { toUpstream: 0, toClient: 0 };

  constructor(limitBytes: number, beganMs: number, budget: InflateBudget) {
    this.#limitBytes = limitBytes;
    this.#beganMs = beganMs;
    this.#readers = {
      toUpstream: new MessageReader(budget, (type, payload) => this.#add('client', type, payload)),
      toClient: new MessageReader(budget, (type, payload) => this.#add('upstream', type, payload)),
    };
  }

  readonly observe = (way: 'toUpstream' | 'toClient', bytes: Uint8Array): void => {
    this.passed[way] += bytes.length;
    this.#readers[way].read(bytes);
  };

  get bytes(): number {
    return this.#bytes + this.#list.length * 100;
  }

  frames(): { readonly list: readonly Frame[]; readonly dropped: number } {
    return { list: [...this.#list], dropped: this.#dropped };
  }

  #add(from: Frame['from'], type: string, { bytes, size }: Payload): void {
    const after = Math.round((performance.now() - this.#beganMs) * 1_000) / 1_000;
    const cut = bytes.length < size ? ({ truncated: true } as const) : {};
    const content = isUtf8(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') };
    this.#list.push({ from, after, type, bytes: size, ...content, ...cut });
    this.#bytes += bytes.length;
    while (this.#list.length > MAX_FRAMES || this.#bytes > this.#limitBytes) {
      const gone = this.#list.shift();
      if (gone === undefined) return;
      this.#bytes -= keptBytesOf(gone);
      this.#dropped++;
    }
  }
}

function keptBytesOf({ text, base64 }: Frame): number {
  return text === undefined ? Buffer.from(base64 ?? '', 'base64').length : Buffer.byteLength(text);
}

interface Payload {
  /** At most `FRAME_BYTES` of it. */
  readonly bytes: Buffer;
  readonly size: number;
}

/** Reads the frames of one direction (RFC 6455, section 5.2), joins fragments and inflates messages. */
class MessageReader {
  readonly #budget: InflateBudget;
  readonly #take: (type: string, payload: Payload) => void;
  readonly #head = Buffer.alloc(14);
  #headBytes = 0;
  #left = -1;
  #mask: Buffer | null = null;
  #maskAt = 0;
  #opcode = 0;
  #isLast = true;
  /** The message in progress, and the control frame, which may come between its fragments. */
  #message = newMessage(1, false);
  #control = newMessage(8, false);
  #window: Buffer | null = Buffer.alloc(0);
  #isBroken = false;

  constructor(budget: InflateBudget, take: (type: string, payload: Payload) => void) {
    this.#budget = budget;
    this.#take = take;
  }

  read(bytes: Uint8Array): void {
    let at = 0;
    while (!this.#isBroken && at < bytes.length) {
      if (this.#left < 0) {
        this.#head[this.#headBytes++] = bytes[at++]!;
        if (this.#headBytes >= 2 && this.#headBytes === this.#headLength()) this.#begin();
      } else {
        const piece = bytes.subarray(at, at + this.#left);
        this.#content(piece);
        at += piece.length;
        this.#left -= piece.length;
      }
      if (this.#left === 0) this.#ends();
    }
  }

  #headLength(): number {
    const second = this.#head[1]!;
    const short = second & 0x7f;
    return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4);
  }

  #begin(): void {
    const head = this.#head;
    const short = head[1]! & 0x7f;
    const length =
      short === 126 ? head.readUInt16BE(2) : short === 127 ? Number(head.readBigUInt64BE(2)) : short;
    this.#opcode = head[0]! & 0x0f;
    this.#isLast = (head[0]! & 0x80) !== 0;
    const isControl = this.#opcode >= 8;
    if (!Number.isSafeInteger(length) || (this.#opcode !== 0 && NAMES[this.#opcode] === undefined)) {
      this.#isBroken = true;
      return;
    }
    this.#mask =
      (head[1]! & 0x80) === 0 ? null : Buffer.from(head.subarray(this.#headBytes - 4, this.#headBytes));
    this.#maskAt = 0;
    this.#headBytes = 0;
    this.#left = length;
    if (isControl) this.#control = newMessage(this.#opcode, false);
    else if (this.#opcode !== 0) this.#message = newMessage(this.#opcode, (head[0]! & 0x40) !== 0);
  }

  #content(piece: Uint8Array): void {
    const message = this.#opcode >= 8 ? this.#control : this.#message;
    const limit = message.isCompressed ? INFLATE_BYTES : FRAME_BYTES;
    const kept = piece.subarray(0, Math.max(0, limit - message.keptBytes));
    message.size += piece.length;
    if (kept.length > 0) {
      const clear = Buffer.from(kept);
      const mask = this.#mask;
      if (mask !== null) {
        for (let at = 0; at < clear.length; at++) clear[at]! ^= mask[(this.#maskAt + at) & 3]!;
      }
      message.pieces.push(clear);
      message.keptBytes += clear.length;
    }
    this.#maskAt = (this.#maskAt + piece.length) & 3;
  }

  #ends(): void {
    this.#left = -1;
    const isControl = this.#opcode >= 8;
    if (!isControl && !this.#isLast) return;
    const message = isControl ? this.#control : this.#message;
    const bytes = Buffer.concat(message.pieces);
    const type = NAMES[message.opcode]!;
    message.pieces = [];
    if (!message.isCompressed) return this.#take(type, { bytes, size: message.size });
    const clear = this.#inflated(bytes, message.size);
    if (clear === null) {
      const kept = Buffer.from(bytes.subarray(0, FRAME_BYTES));
      return this.#take(`${type}, compressed`, { bytes: kept, size: message.size });
    }
    this.#take(type, { bytes: Buffer.from(clear.subarray(0, FRAME_BYTES)), size: clear.length });
  }

  /** A message as it was before compression; null if it cannot be known. */
  #inflated(bytes: Buffer, size: number): Buffer | null {
    if (this.#window === null || bytes.length < size || !this.#budget.hasLeft()) {
      this.#window = null;
      return null;
    }
    try {
      const { inflateRawSync, constants } = nodeZlib();
      const clear = inflateRawSync(Buffer.concat([bytes, TAIL]), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: INFLATE_BYTES,
        ...(this.#window.length > 0 && { dictionary: this.#window }),
      });
      this.#budget.take(clear.length);
      this.#window = Buffer.from(Buffer.concat([this.#window, clear]).subarray(-WINDOW_BYTES));
      return clear;
    } catch {
      this.#budget.take(INFLATE_BYTES);
      this.#window = null;
      return null;
    }
  }
}

interface Message {
  readonly opcode: number;
  readonly isCompressed: boolean;
  pieces: Buffer[];
  keptBytes: number;
  size: number;
}

function newMessage(opcode: number, isCompressed: boolean): Message {
  return { opcode, isCompressed, pieces: [], keptBytes: 0, size: 0 };
}
