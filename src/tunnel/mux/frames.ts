/**
 * Frames of muxado, version 2: a header of 8 bytes (24 bits of body length, 4 of type, 4 of flags, 32 of stream
 * id), then the body. All integers are big-endian.
 */

const HEADER_BYTES = 8;
const TYPES = { reset: 0, data: 1, window: 2, goaway: 3 } as const;
const FIN = 1;
const SYN = 2;
/** Length of the body of RST and WNDINC; GOAWAY begins with two such numbers. */
const NUMBER_BYTES = 4;
/** Length of WNDINC. */
export const WINDOW_FRAME_BYTES = HEADER_BYTES + NUMBER_BYTES;
const MAX_STREAM = 0x7fff_ffff;

// table: error codes of RST and GOAWAY
export const MUX_ERROR = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 4,
  streamRefused: 5,
  streamCancelled: 6,
  frameSize: 8,
  acceptQueueFull: 9,
} as const;

/** A violation after which no frame can be trusted: the session ends. */
export interface FrameFault {
  readonly code: number;
  readonly detail: string;
}

/** Receives frames. The body of DATA comes in pieces, which are lent until the call returns. */
export interface FrameTaker {
  dataBegins(stream: number, opens: boolean, lengthBytes: number): void;
  dataPiece(bytes: Buffer): void;
  dataEnds(isLast: boolean): void;
  reset(stream: number, code: number): void;
  windowGrows(stream: number, bytes: number): void;
  goaway(code: number): void;
}

/** Reads frames from bytes in any division. Holds at most one header and one number. */
export class FrameReader {
  readonly #taker: FrameTaker;
  /** The part of a header or number that has arrived; idle connections have none. */
  #held: Buffer | null = null;
  #heldBytes = 0;
  /** Length of what comes next: a header, or the fixed part of a body. */
  #wanted = HEADER_BYTES;
  #isInBody = false;
  #type = 0;
  #flags = 0;
  #stream = 0;
  /** Bytes of the body that are still to come. */
  #left = 0;
  #fault: FrameFault | null = null;

  constructor(taker: FrameTaker) {
    this.#taker = taker;
  }

  /** Reads all of `bytes`. Returns the fault that ended the session, if any; then nothing more is read. */
  read(bytes: Buffer): FrameFault | null {
    let at = 0;
    while (this.#fault === null && at < bytes.length) {
      if (this.#isInBody && (this.#type === TYPES.data || this.#wanted === 0)) at = this.#pass(bytes, at);
      else if (this.#held === null && bytes.length - at >= this.#wanted) {
        const from = at;
        at += this.#wanted;
        this.#take(bytes, from);
      } else at = this.#hold(bytes, at);
    }
    return this.#fault;
  }

  #take(bytes: Buffer, at: number): void {
    if (this.#isInBody) this.#readNumbers(bytes, at);
    else this.#readHeader(bytes, at);
  }

  #hold(bytes: Buffer, from: number): number {
    const held = (this.#held ??= Buffer.alloc(HEADER_BYTES));
    const end = Math.min(bytes.length, from + this.#wanted - this.#heldBytes);
    this.#heldBytes += bytes.copy(held, this.#heldBytes, from, end);
    if (this.#heldBytes === this.#wanted) {
      this.#held = null;
      this.#heldBytes = 0;
      this.#take(held, 0);
    }
    return end;
  }

  #readHeader(bytes: Buffer, at: number): void {
    this.#left = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    this.#type = bytes[at + 3]! >> 4;
    this.#flags = bytes[at + 3]! & 0xf;
    this.#stream = bytes.readUInt32BE(at + 4);
    this.#fault = headerFault(this.#type, this.#stream, this.#left);
    if (this.#fault !== null) return;
    this.#isInBody = true;
    if (this.#type === TYPES.data) {
      this.#taker.dataBegins(this.#stream, (this.#flags & SYN) !== 0, this.#left);
      if (this.#left === 0) this.#endFrame();
    } else this.#wanted = this.#type === TYPES.goaway ? 2 * NUMBER_BYTES : NUMBER_BYTES;
  }

  #readNumbers(bytes: Buffer, at: number): void {
    const first = bytes.readUInt32BE(at);
    this.#left -= this.#wanted;
    this.#wanted = 0;
    if (this.#type === TYPES.reset) this.#taker.reset(this.#stream, first);
    else if (this.#type === TYPES.window) this.#taker.windowGrows(this.#stream, first & MAX_STREAM);
    else this.#taker.goaway(bytes.readUInt32BE(at + NUMBER_BYTES));
    if (this.#left === 0) this.#endFrame();
  }

  /** Passes the body of DATA on, or skips the text of GOAWAY. */
  #pass(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    if (this.#type === TYPES.data) this.#taker.dataPiece(bytes.subarray(from, end));
    if (this.#left === 0) this.#endFrame();
    return end;
  }

  #endFrame(): void {
    this.#isInBody = false;
    this.#wanted = HEADER_BYTES;
    if (this.#type === TYPES.data) this.#taker.dataEnds((this.#flags & FIN) !== 0);
  }
}

function headerFault(type: number, stream: number, length: number): FrameFault | null {
  if (type > TYPES.goaway) return { code: MUX_ERROR.protocol, detail: `frame type ${type} does not exist` };
  if (stream > MAX_STREAM) return { code: MUX_ERROR.protocol, detail: 'a stream id has its top bit set' };
  if ((stream === 0) !== (type === TYPES.goaway))
    return { code: MUX_ERROR.protocol, detail: `a frame of type ${type} on stream ${stream}` };
  const fits =
    type === TYPES.data || (type === TYPES.goaway ? length >= 2 * NUMBER_BYTES : length === NUMBER_BYTES);
  return fits
    ? null
    : { code: MUX_ERROR.frameSize, detail: `a frame of type ${type} with a body of ${length} bytes` };
}

/** Gives room for a frame. */
type Room = (bytes: number) => Buffer;
const NEW: Room = (bytes) => Buffer.allocUnsafe(bytes);

/** A DATA frame. The body is copied. */
export function dataFrame(
  stream: number,
  body: Uint8Array,
  { opens, isLast }: { readonly opens: boolean; readonly isLast: boolean },
  room = NEW,
): Buffer {
  const frame = room(HEADER_BYTES + body.length);
  writeHeader(frame, body.length, (TYPES.data << 4) | (opens ? SYN : 0) | (isLast ? FIN : 0), stream);
  frame.set(body, HEADER_BYTES);
  return frame;
}

export function resetFrame(stream: number, code: number, room = NEW): Buffer {
  return numberFrame(room, TYPES.reset, stream, code);
}

export function windowFrame(stream: number, bytes: number, room = NEW): Buffer {
  return numberFrame(room, TYPES.window, stream, bytes);
}

/** A GOAWAY with its fixed part only: agents fail on bodies below 8 bytes. */
export function goawayFrame(lastStream: number, code: number, room = NEW): Buffer {
  const frame = room(HEADER_BYTES + 2 * NUMBER_BYTES);
  writeHeader(frame, 2 * NUMBER_BYTES, TYPES.goaway << 4, 0);
  frame.writeUInt32BE(lastStream, HEADER_BYTES);
  frame.writeUInt32BE(code, HEADER_BYTES + NUMBER_BYTES);
  return frame;
}

function numberFrame(room: Room, type: number, stream: number, value: number): Buffer {
  const frame = room(HEADER_BYTES + NUMBER_BYTES);
  writeHeader(frame, NUMBER_BYTES, type << 4, stream);
  frame.writeUInt32BE(value, HEADER_BYTES);
  return frame;
}

function writeHeader(frame: Buffer, length: number, typeAndFlags: number, stream: number): void {
  frame.writeUIntBE(length, 0, 3);
  frame[3] = typeAndFlags;
  frame.writeUInt32BE(stream, 4);
}
