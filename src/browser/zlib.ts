/**
 * The part of `node:zlib` that the engine uses, by pako. Brotli and zstd have no encoder here: bodies are stored in
 * their formats uncompressed, so that only their lengths differ from those of a running edge.
 */
import { Deflate, type DeflateOptions, Inflate } from 'pako';

// Of zlib; pako loads later.
const [Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH] = [0, 2, 4] as const;

export const constants = {
  Z_BEST_SPEED: 1,
  Z_NO_FLUSH,
  Z_SYNC_FLUSH,
  ZSTD_c_compressionLevel: 100,
  ZSTD_e_continue: 0,
  ZSTD_e_flush: 1,
  BROTLI_PARAM_QUALITY: 1,
  BROTLI_OPERATION_PROCESS: 0,
  BROTLI_OPERATION_FLUSH: 1,
} as const;

interface DeflateSettings extends Pick<DeflateOptions, 'level' | 'windowBits' | 'memLevel'> {
  readonly finishFlush?: number;
}

function deflated(bytes: Uint8Array, settings: DeflateSettings, format: DeflateOptions): Buffer {
  const { finishFlush = Z_FINISH, level, windowBits, memLevel } = settings;
  const given = Object.entries({ level, windowBits, memLevel }).filter(([, value]) => value !== undefined);
  const encoder = new Deflate({ ...Object.fromEntries(given), ...format });
  const pieces: Uint8Array[] = [];
  encoder.onData = (piece) => pieces.push(Uint8Array.from(piece as Uint8Array));
  encoder.push(bytes, finishFlush as typeof Z_FINISH);
  return Buffer.concat(pieces);
}

export const gzipSync = (bytes: Uint8Array, settings: DeflateSettings = {}): Buffer =>
  deflated(bytes, settings, { gzip: true });

export const deflateSync = (bytes: Uint8Array, settings: DeflateSettings = {}): Buffer =>
  deflated(bytes, settings, {});

export const deflateRawSync = (bytes: Uint8Array, settings: DeflateSettings = {}): Buffer =>
  deflated(bytes, settings, { raw: true });

/** Throws for malformed input and for output above the limit. */
export function inflateRawSync(
  bytes: Uint8Array,
  { maxOutputLength }: { readonly maxOutputLength: number },
): { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } } {
  const decoder = new Inflate({ raw: true });
  const pieces: Uint8Array[] = [];
  let total = 0;
  decoder.onData = (piece) => {
    total += piece.length;
    if (total > maxOutputLength) throw new RangeError('the output exceeds its limit');
    pieces.push(Uint8Array.from(piece as Uint8Array));
  };
  const isWhole = decoder.push(bytes, true);
  if (!isWhole || decoder.err !== 0) throw new TypeError('the input is malformed');
  // The rest of the input; the types of pako hide it.
  const { avail_in: rest } = (decoder as unknown as { strm: { avail_in: number } }).strm;
  return { buffer: Buffer.concat(pieces), engine: { bytesWritten: bytes.length - rest } };
}

const BROTLI_BLOCK_BYTES = 65_536;

/** Uncompressed meta-blocks (RFC 7932 §9.2), in a window of 2^16 bytes. */
export function brotliCompressSync(bytes: Uint8Array, { finishFlush }: DeflateSettings = {}): Buffer {
  const pieces = blocksOf(bytes, BROTLI_BLOCK_BYTES).flatMap((block, index) => {
    // Before the first one stands a zero bit for the window: not last, 4 nibbles, length - 1, uncompressed.
    const head = ((block.length - 1) << 3) | (1 << 19);
    const bits = index === 0 ? head << 1 : head;
    return [Uint8Array.of(bits & 255, (bits >> 8) & 255, bits >> 16), block];
  });
  const isEmpty = pieces.length === 0;
  const last = isEmpty ? Uint8Array.of(6) : Uint8Array.of(3);
  return Buffer.concat(finishFlush === undefined ? [...pieces, last] : pieces);
}

const ZSTD_BLOCK_BYTES = 131_072;

/** Raw blocks (RFC 8878 §3.1.1.2), in a window of 2^21 bytes. */
export function zstdCompressSync(bytes: Uint8Array, { finishFlush }: DeflateSettings = {}): Buffer {
  const blocks = blocksOf(bytes, ZSTD_BLOCK_BYTES);
  const pieces = (blocks.length === 0 ? [new Uint8Array()] : blocks).flatMap((block, index) => {
    const isLast = finishFlush === undefined && index >= blocks.length - 1;
    const head = (block.length << 3) | Number(isLast);
    return [Uint8Array.of(head & 255, (head >> 8) & 255, head >> 16), block];
  });
  return Buffer.concat([Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0x58), ...pieces]);
}

function blocksOf(bytes: Uint8Array, blockBytes: number): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes) blocks.push(bytes.subarray(at, at + blockBytes));
  return blocks;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xed_b8_83_20 : rest >>> 1;
  return rest;
});

/** CRC-32 of IEEE 802.3. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function notInPages(): never {
  throw new TypeError('bodies are not compressed as they stream in a page');
}

export {
  notInPages as createBrotliCompress,
  notInPages as createDeflate,
  notInPages as createGzip,
  notInPages as createZstdCompress,
};

export default { crc32 };
