import type { Transform } from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { Encoding } from '../engine/contract.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './port.ts';
import { SMALL_GZIP_BYTES, smallGzip } from './small_gzip.ts';

/** Level 1: 100 kB take a fifth of the time of level 6 and come out 2 to 10 % longer. */
const ZLIB = { level: constants.Z_BEST_SPEED };
/** Its window of 2^21 bytes is below the 8 MB that every client takes (RFC 9659 §3). */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Bodies up to this length fit into a window of 2^12 bytes; the state of a smaller window is made in half the time. */
const SMALL_BYTES = 4_096;

/** Compresses a whole body; `deflate` is the zlib format (RFC 9110 §8.4.1.2). */
export function compressed(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  if (encoding === 'gzip' && bytes.length <= SMALL_GZIP_BYTES) {
    const small = smallGzip(bytes);
    if (small !== null) return small;
  }
  // What comes out is hardly ever longer than what goes in, so it is written to one buffer and not put together.
  const chunkSize = bytes.length + 1_024;
  if (encoding === 'br') return brotliCompressSync(bytes, { ...BROTLI, chunkSize });
  if (encoding === 'zstd') return zstdCompressSync(bytes, { ...ZSTD, chunkSize });
  const window = bytes.length <= SMALL_BYTES ? { windowBits: 12, memLevel: 6 } : {};
  const options = { ...ZLIB, ...window, chunkSize };
  return encoding === 'gzip' ? gzipSync(bytes, options) : deflateSync(bytes, options);
}

/**
 * How much is compressed at once, while nothing else is done: a stream of zlib costs ten times what the bytes of a
 * small body do, and 64 kB take less than 0.2 ms. Brotli is slower.
 */
export function wholeBytes(encoding: Encoding): number {
  return encoding === 'br' ? 16_384 : 65_536;
}

/** With `flushEach` what each write brings comes out at once. */
function createEncoder(encoding: Encoding, flushEach: boolean): Transform {
  if (encoding === 'br') {
    const flush = flushEach ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS;
    return createBrotliCompress({ ...BROTLI, flush });
  }
  if (encoding === 'zstd') {
    const flush = flushEach ? constants.ZSTD_e_flush : constants.ZSTD_e_continue;
    return createZstdCompress({ ...ZSTD, flush });
  }
  const flush = flushEach ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
  return encoding === 'gzip' ? createGzip({ ...ZLIB, flush }) : createDeflate({ ...ZLIB, flush });
}

/**
 * Compresses a body as it streams. With `flushEach` what was put in comes out at once, as Server-Sent Events need;
 * without it the encoder decides. A fault of the source is passed on and the stream left without its trailer, so
 * that nobody takes it for whole.
 */
export class CompressedBody implements ResponseBody, BodyTaker {
  readonly lengthBytes = null;
  /** Bytes that went in. */
  rawBytes = 0;
  readonly #source: ResponseBody;
  readonly #encoder: Transform;
  #taker: BodyTaker | null = null;
  /** The source waits for the encoder. */
  #isFull = false;

  constructor(source: ResponseBody, encoding: Encoding, flushEach: boolean) {
    this.#source = source;
    this.#encoder = createEncoder(encoding, flushEach);
  }

  flow(taker: BodyTaker): void {
    this.#taker = taker;
    const encoder = this.#encoder;
    encoder.on('data', (bytes: Uint8Array) => {
      this.#taker?.take(bytes);
      if (this.#taker?.rest() === false) encoder.pause();
    });
    encoder.on('end', () => this.#settle((one) => one.end(NO_FIELDS)));
    encoder.on('error', (error) => this.#settle((one) => one.fail('malformed', error.message)));
    encoder.on('drain', () => {
      if (!this.#isFull) return;
      this.#isFull = false;
      this.#source.resume();
    });
    this.#source.flow(this);
    taker.rest(); // the head does not wait for the encoder
  }

  resume(): void {
    this.#encoder.resume();
  }

  cancel(): void {
    this.#taker = null;
    this.#encoder.destroy();
    this.#source.cancel();
  }

  take(bytes: Uint8Array): void {
    if (this.#encoder.destroyed) return;
    this.rawBytes += bytes.length;
    // The encoder works beside us and later; what was lent is not there any more then.
    this.#encoder.write(Buffer.from(bytes));
  }

  rest(): boolean {
    this.#isFull = this.#encoder.writableNeedDrain;
    return !this.#isFull;
  }

  end(_trailers: FieldList): void {
    this.#encoder.end();
  }

  fail(fault: BodyFault, detail: string): void {
    this.#encoder.destroy();
    this.#settle((taker) => taker.fail(fault, detail));
  }

  #settle(say: (taker: BodyTaker) => void): void {
    const taker = this.#taker;
    this.#taker = null;
    if (taker !== null) say(taker);
  }
}
