import type { Transform } from 'node:stream';
import type { ZlibOptions } from 'node:zlib';
import type { Encoding } from '../engine/questions.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { RawLength } from './body_pump.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';
import { SMALL_GZIP_BYTES, smallGzip } from './small_gzip.ts';
import { nodeZlib } from '../loading/builtins.ts';

/** Level 1: 100 kB take a fifth of the time of level 6, and the result is 2 to 10 % longer. */
const ZLIB = { level: 1 };
/** Its window of 2^21 bytes is below the 8 MB that every client supports (RFC 9659 §3). */
const zstdOptions = () => ({ params: { [nodeZlib().constants.ZSTD_c_compressionLevel]: 3 } });
const brotliOptions = () => ({ params: { [nodeZlib().constants.BROTLI_PARAM_QUALITY]: 4 } });

/** Bodies up to this length fit into a window of 2^12 bytes, whose state is created in half the time. */
const SMALL_BYTES = 4_096;

/** A whole body, compressed. */
export interface CompressedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether nothing else is in their memory, so that it can be freed (`free_memory.ts`). */
  readonly ownsMemory: boolean;
}

/** Compresses a whole body; `deflate` is the zlib format (RFC 9110 §8.4.1.2). */
export function compressed(bytes: Uint8Array, encoding: Encoding): CompressedBytes {
  if (encoding === 'gzip' && bytes.length <= SMALL_GZIP_BYTES) {
    const small = smallGzip(bytes);
    if (small !== null) return { bytes: small, ownsMemory: false };
  }
  const isSmall = bytes.length <= SMALL_BYTES && (encoding === 'gzip' || encoding === 'deflate');
  const packed = encodedAtOnce(bytes, encoding, isSmall ? { windowBits: 12, memLevel: 6 } : {});
  return { bytes: packed, ownsMemory: true };
}

/** An empty last block, and the length of the checksum behind it (RFC 1951 §3.2.6, RFC 7932 §9.2, RFC 8878 §3.1.1.2). */
const LAST_BLOCKS: Readonly<Record<Encoding, readonly [block: readonly number[], checksumBytes: number]>> = {
  gzip: [[3, 0], 8],
  deflate: [[3, 0], 4],
  br: [[3], 0],
  zstd: [[1, 0, 0], 0],
};

/**
 * The bytes that `CompressedBody` produces for a body in one piece, for drivers that have it in memory. zstd
 * splits blocks by its input pieces, so it may differ from a connection by a few bytes.
 */
export function compressedAsStream(bytes: Uint8Array, encoding: Encoding, flushEach: boolean): Uint8Array {
  if (!flushEach || bytes.length === 0) return encodedAtOnce(bytes, encoding, {});
  const { constants } = nodeZlib();
  const isZlib = encoding === 'gzip' || encoding === 'deflate';
  const flushed = encodedAtOnce(bytes, encoding, { finishFlush: isZlib ? constants.Z_SYNC_FLUSH : 1 });
  const [lastBlock, checksumBytes] = LAST_BLOCKS[encoding];
  const checksum = checksumBytes === 0 ? [] : encodedAtOnce(bytes, encoding, {}).subarray(-checksumBytes);
  return Buffer.concat([flushed, Buffer.from(lastBlock), Buffer.from(checksum)]);
}

/** Compresses a whole body with the common parameters and some for this body. */
function encodedAtOnce(
  bytes: Uint8Array,
  encoding: Encoding,
  given: Pick<ZlibOptions, 'finishFlush' | 'windowBits' | 'memLevel'>,
): Uint8Array<ArrayBuffer> {
  // The output is hardly ever longer than the input, so one output buffer is enough. Of text, zlib makes less than a
  // quarter; more is joined. Buffers of half of Node's pool, and longer ones, have memory of their own.
  const isZlib = encoding === 'gzip' || encoding === 'deflate';
  const wantedBytes = (isZlib ? bytes.length >> 2 : bytes.length) + 1_024;
  const options = { ...given, chunkSize: Math.max(wantedBytes, Buffer.poolSize >>> 1) };
  switch (encoding) {
    case 'br':
      return nodeZlib().brotliCompressSync(bytes, { ...brotliOptions(), ...options });
    case 'zstd':
      return nodeZlib().zstdCompressSync(bytes, { ...zstdOptions(), ...options });
    case 'gzip':
      return nodeZlib().gzipSync(bytes, { ...ZLIB, ...options });
    case 'deflate':
      return nodeZlib().deflateSync(bytes, { ...ZLIB, ...options });
  }
}

/**
 * Maximum length that is compressed synchronously: a zlib stream costs ten times as much as the bytes of a
 * small body, and twice as much at 100 kB. 128 kB of text
 * take 0.5 to 0.8 ms, or 2.8 ms if nothing in it repeats. Brotli is slower.
 */
export function wholeBytes(encoding: Encoding): number {
  return encoding === 'br' ? 16_384 : 131_072;
}

/** With `flushEach`, each write produces its output at once. */
function createEncoder(encoding: Encoding, flushEach: boolean): Transform {
  const { constants, createBrotliCompress, createDeflate, createGzip, createZstdCompress } = nodeZlib();
  if (encoding === 'br') {
    const flush = flushEach ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS;
    return createBrotliCompress({ ...brotliOptions(), flush });
  }
  if (encoding === 'zstd') {
    const flush = flushEach ? constants.ZSTD_e_flush : constants.ZSTD_e_continue;
    return createZstdCompress({ ...zstdOptions(), flush });
  }
  const flush = flushEach ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
  return encoding === 'gzip' ? createGzip({ ...ZLIB, flush }) : createDeflate({ ...ZLIB, flush });
}

/**
 * Compresses a body as it streams. With `flushEach`, input is flushed at once, as Server-Sent Events need;
 * otherwise the encoder decides. A fault of the source is passed on and the stream has no trailer, so that it
 * is not taken for complete.
 */
export class CompressedBody implements ResponseBody, BodyTaker, RawLength {
  readonly lengthBytes = null;
  #rawBytes = 0;
  readonly #source: ResponseBody;
  readonly #encoder: Transform;
  #taker: BodyTaker | null = null;
  /** The encoder has asked the source to pause. */
  #isFull = false;

  constructor(source: ResponseBody, encoding: Encoding, flushEach: boolean) {
    this.#source = source;
    this.#encoder = createEncoder(encoding, flushEach);
  }

  rawBytesOf(): number {
    return this.#rawBytes;
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
    this.#rawBytes += bytes.length;
    // The encoder runs in parallel, when the lent bytes are no longer valid.
    this.#encoder.write(Buffer.from(bytes));
  }

  rest(): boolean {
    this.#isFull = this.#encoder.writableNeedDrain;
    return !this.#isFull;
  }

  end(_trailers: FieldList): boolean {
    this.#encoder.end();
    return true; // what was lent is copied
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
