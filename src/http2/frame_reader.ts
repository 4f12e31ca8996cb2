import type { ReadBuffer } from '../io/read_buffer.ts';
import { ERROR } from './error_codes.ts';
import { FLAG, FRAME, FRAME_HEAD_BYTES, MAX_31_BITS, MAX_FRAME_BYTES } from './frames.ts';

/** A violation that ends the connection (RFC 9113 §5.4.1). */
export interface ConnectionError {
  readonly code: number;
  readonly detail: string;
}

/** Receives the frames of a connection. What it returns, if anything, ends the connection. */
export interface FrameTaker {
  /** `bytes` are valid during the call; `flowBytes` counts padding, too (RFC 9113 §6.9.1). */
  data(stream: number, bytes: Buffer, flowBytes: number, endsStream: boolean): ConnectionError | null;
  /** A whole header block, valid during the call. */
  head(stream: number, block: Buffer, endsStream: boolean): ConnectionError | null;
  reset(stream: number): ConnectionError | null;
  setting(id: number, value: number): ConnectionError | null;
  /** All settings of a frame were passed. */
  settings(): ConnectionError | null;
  ping(payload: string, isAck: boolean): ConnectionError | null;
  goaway(): ConnectionError | null;
  /** `by` is 0 for an invalid increment. */
  windowUpdate(stream: number, by: number): ConnectionError | null;
  /** A frame that has no effect: PRIORITY, acknowledged settings, or an unknown type. */
  ignored(): ConnectionError | null;
}

/** More frames than a head of the maximum length needs. */
const MAX_CONTINUATIONS = 64;

/** More settings than there are; each change of a window is one of all streams. */
const MAX_SETTINGS = 32;

/** Reads frames and joins header blocks; everything that is wrong whatever the state of streams is refused here. */
export class FrameReader {
  readonly #taker: FrameTaker;
  readonly #maxBlockBytes: number;
  /** The pieces of the header block that is being received. */
  #pieces: Buffer[] = [];
  #blockBytes = 0;
  #blockStream = 0;
  #blockEndsStream = false;
  #isFirst = true;

  /** `maxBlockBytes` is the maximum length of a header block, compressed. */
  constructor(taker: FrameTaker, maxBlockBytes: number) {
    this.#taker = taker;
    this.#maxBlockBytes = maxBlockBytes;
  }

  /** A header block has begun and is incomplete. */
  get isWithinBlock(): boolean {
    return this.#blockStream !== 0;
  }

  /** The client has sent its first frame, which is SETTINGS. */
  get hasBegun(): boolean {
    return !this.#isFirst;
  }

  /** Reads the next frame; false when it is incomplete. */
  read(input: ReadBuffer): boolean | ConnectionError {
    if (input.length < FRAME_HEAD_BYTES) return false;
    const { bytes, from } = input;
    const length = bytes.readUIntBE(from, 3);
    const type = bytes[from + 3]!;
    if (this.#isFirst && type !== FRAME.settings) return protocol('the first frame is not SETTINGS');
    if (length > MAX_FRAME_BYTES) return sizeError('a frame is longer than SETTINGS_MAX_FRAME_SIZE');
    if (input.length < FRAME_HEAD_BYTES + length) return false;
    this.#isFirst = false;
    const flags = bytes[from + 4]!;
    const stream = bytes.readUInt32BE(from + 5) & MAX_31_BITS;
    input.from += FRAME_HEAD_BYTES + length;
    if (this.#blockStream !== 0 && (type !== FRAME.continuation || stream !== this.#blockStream))
      return protocol('a frame interrupts a header block');
    const at = from + FRAME_HEAD_BYTES;
    return this.#frame(type, flags, stream, bytes, at, at + length) ?? true;
  }

  #frame(
    type: number,
    flags: number,
    stream: number,
    bytes: Buffer,
    from: number,
    to: number,
  ): ConnectionError | null {
    const length = to - from;
    const taker = this.#taker;
    switch (type) {
      case FRAME.data:
        return this.#data(flags, stream, bytes, from, to);
      case FRAME.headers:
        return this.#headers(flags, stream, bytes, from, to);
      case FRAME.continuation:
        if (this.#blockStream === 0) return protocol('CONTINUATION without HEADERS');
        return this.#block(flags, bytes.subarray(from, to));
      case FRAME.priority:
        if (stream === 0) return protocol('PRIORITY on stream 0');
        return length === 5 ? taker.ignored() : sizeError('PRIORITY of another length than 5');
      case FRAME.reset:
        if (stream === 0) return protocol('RST_STREAM on stream 0');
        return length === 4 ? taker.reset(stream) : sizeError('RST_STREAM of another length than 4');
      case FRAME.settings:
        return this.#settings(flags, stream, bytes, from, to);
      case FRAME.pushPromise:
        return protocol('PUSH_PROMISE from a client');
      case FRAME.ping:
        if (stream !== 0) return protocol('PING on a stream');
        if (length !== 8) return sizeError('PING of another length than 8');
        return taker.ping(bytes.toString('latin1', from, to), (flags & FLAG.ack) !== 0);
      case FRAME.goaway:
        if (stream !== 0) return protocol('GOAWAY on a stream');
        return length >= 8 ? taker.goaway() : sizeError('GOAWAY shorter than 8 bytes');
      case FRAME.windowUpdate:
        if (length !== 4) return sizeError('WINDOW_UPDATE of another length than 4');
        return taker.windowUpdate(stream, bytes.readUInt32BE(from) & MAX_31_BITS);
      default:
        return taker.ignored(); // RFC 9113 §5.5
    }
  }

  #data(flags: number, stream: number, bytes: Buffer, from: number, to: number): ConnectionError | null {
    if (stream === 0) return protocol('DATA on stream 0');
    const end = unpadded(flags, bytes, from, to);
    if (end < 0) return protocol('the padding is longer than its frame');
    const start = (flags & FLAG.padded) === 0 ? from : from + 1;
    const endsStream = (flags & FLAG.endStream) !== 0;
    return this.#taker.data(stream, bytes.subarray(start, end), to - from, endsStream);
  }

  #headers(flags: number, stream: number, bytes: Buffer, from: number, to: number): ConnectionError | null {
    if (stream === 0) return protocol('HEADERS on stream 0');
    const end = unpadded(flags, bytes, from, to);
    let start = (flags & FLAG.padded) === 0 ? from : from + 1;
    if ((flags & FLAG.priority) !== 0) start += 5;
    if (end < start) return protocol('the padding or priority is longer than its frame');
    this.#blockStream = stream;
    this.#blockEndsStream = (flags & FLAG.endStream) !== 0;
    return this.#block(flags, bytes.subarray(start, end));
  }

  /** A piece of a header block; most blocks are one piece. */
  #block(flags: number, piece: Buffer): ConnectionError | null {
    this.#blockBytes += piece.length;
    if (this.#blockBytes > this.#maxBlockBytes || this.#pieces.length > MAX_CONTINUATIONS)
      return { code: ERROR.ENHANCE_YOUR_CALM, detail: 'a header block is longer than the limit' };
    if ((flags & FLAG.endHeaders) === 0) {
      this.#pieces.push(Buffer.from(piece));
      return null;
    }
    const block = this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
    const stream = this.#blockStream;
    this.#pieces = [];
    this.#blockBytes = 0;
    this.#blockStream = 0;
    return this.#taker.head(stream, block, this.#blockEndsStream);
  }

  #settings(flags: number, stream: number, bytes: Buffer, from: number, to: number): ConnectionError | null {
    if (stream !== 0) return protocol('SETTINGS on a stream');
    if ((flags & FLAG.ack) !== 0)
      return to === from ? this.#taker.ignored() : sizeError('acknowledged SETTINGS with a payload');
    if ((to - from) % 6 !== 0) return sizeError('the length of SETTINGS is not a multiple of 6');
    if ((to - from) / 6 > MAX_SETTINGS)
      return { code: ERROR.ENHANCE_YOUR_CALM, detail: 'SETTINGS has too many settings' };
    for (let at = from; at < to; at += 6) {
      const error = this.#taker.setting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2));
      if (error !== null) return error;
    }
    return this.#taker.settings();
  }

  /** Releases what is held of an incomplete header block. */
  clear(): void {
    this.#pieces = [];
    this.#blockStream = 0;
  }
}

/** The end of a payload without its padding; -1 if there is less payload than padding. */
function unpadded(flags: number, bytes: Buffer, from: number, to: number): number {
  if ((flags & FLAG.padded) === 0) return to;
  if (from === to) return -1;
  const end = to - bytes[from]!;
  return end > from ? end : -1;
}

export function protocol(detail: string): ConnectionError {
  return { code: ERROR.PROTOCOL_ERROR, detail };
}

function sizeError(detail: string): ConnectionError {
  return { code: ERROR.FRAME_SIZE_ERROR, detail };
}
