import { nodeZlib } from '../loading/builtins.ts';

/** Maximum length of a body compressed here: with fixed codes the result still fits into one packet. */
export const SMALL_GZIP_BYTES = 2_048;
/** Up to this length zlib uses fixed codes, too: a description of better ones would be longer than what they save. */
const TINY_BYTES = 32;

const HASH_BITS = 11;
const MIN_MATCH = 4;
const MAX_MATCH = 258;

/** Bits in writing order, the first one lowest, and their number. */
type Code = readonly [bits: number, count: number];

/** The codes of all values, including their extra bits. */
interface Codes {
  readonly bits: Uint32Array;
  readonly counts: Uint8Array;
}

/**
 * The last position of each sequence of four bytes, counted from `epoch`; lower values belong to earlier
 * bodies.
 */
const places = new Int32Array(1 << HASH_BITS);
let epoch = 1;

const LITERALS = literalCodes();
const LENGTHS = lengthCodes();
const DISTANCES = distanceCodes();

const HEAD = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff] as const;
const TAIL_BYTES = 8;
/** A literal takes at most nine bits. */
const out = Buffer.alloc(HEAD.length + SMALL_GZIP_BYTES + (SMALL_GZIP_BYTES >> 3) + 2 + TAIL_BYTES);
out.set(HEAD);

/**
 * Compresses up to `SMALL_GZIP_BYTES` with gzip (RFC 1952), as one block of fixed codes (RFC 1951 §3.2.6):
 * creating the zlib state for each body would take longer than compressing it. Null when a body
 * that is not tiny would not become shorter.
 */
export function smallGzip(bytes: Uint8Array): Buffer<ArrayBuffer> | null {
  const end = deflate(bytes, HEAD.length) + TAIL_BYTES;
  if (end >= bytes.length && bytes.length > TINY_BYTES) return null;
  out.writeUInt32LE(nodeZlib().crc32(bytes), end - TAIL_BYTES);
  out.writeUInt32LE(bytes.length, end - 4);
  return Buffer.from(out.subarray(0, end));
}

/** Writes one final block to `out`; returns its end. */
function deflate(bytes: Uint8Array, from: number): number {
  if (epoch > 2 ** 30) {
    places.fill(0);
    epoch = 1;
  }
  const { length } = bytes;
  const lastStart = length - MIN_MATCH;
  let to = from;
  let held = 0b011; // the final block, with fixed codes
  let count = 3;
  let at = 0;
  while (at < length) {
    let matched = 0;
    if (at <= lastStart) {
      const text = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      const place = Math.imul(text, 0x9e3779b1) >>> (32 - HASH_BITS);
      const earlier = places[place]! - epoch;
      places[place] = at + epoch;
      if (earlier >= 0) matched = matchLength(bytes, earlier, at);
      if (matched >= MIN_MATCH) {
        held |= LENGTHS.bits[matched]! << count;
        count += LENGTHS.counts[matched]!;
        for (; count >= 8; count -= 8, held >>>= 8) out[to++] = held;
        held |= DISTANCES.bits[at - earlier]! << count;
        count += DISTANCES.counts[at - earlier]!;
        at += matched;
      }
    }
    if (matched < MIN_MATCH) {
      const byte = bytes[at++]!;
      held |= LITERALS.bits[byte]! << count;
      count += LITERALS.counts[byte]!;
    }
    for (; count >= 8; count -= 8, held >>>= 8) out[to++] = held;
  }
  epoch += length;
  // The end of the block is seven zero bits.
  for (count += 7; count > 0; count -= 8, held >>>= 8) out[to++] = held;
  return to;
}

function matchLength(bytes: Uint8Array, earlier: number, at: number): number {
  const most = Math.min(MAX_MATCH, bytes.length - at);
  let length = 0;
  while (length < most && bytes[earlier + length] === bytes[at + length]) length++;
  return length;
}

function reversed(bits: number, count: number): number {
  let result = 0;
  for (let at = 0; at < count; at++) result |= ((bits >> at) & 1) << (count - 1 - at);
  return result;
}

function literalCodes(): Codes {
  const bits = new Uint32Array(256);
  const counts = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    counts[byte] = byte < 144 ? 8 : 9;
    bits[byte] = byte < 144 ? reversed(0x30 + byte, 8) : reversed(0x190 + byte - 144, 9);
  }
  return { bits, counts };
}

/** RFC 1951 §3.2.5: symbols 257 to 285. */
function lengthCodes(): Codes {
  const codes = valueCodes(MAX_MATCH, 3, (index) => [
    ...lengthCode(257 + index),
    index < 8 ? 0 : (index >> 2) - 1,
  ]);
  // The maximum length has its own symbol, without extra bits.
  [codes.bits[MAX_MATCH], codes.counts[MAX_MATCH]] = lengthCode(285);
  return codes;
}

function lengthCode(symbol: number): Code {
  return symbol < 280 ? [reversed(symbol - 256, 7), 7] : [reversed(0xc0 + symbol - 280, 8), 8];
}

function distanceCodes(): Codes {
  return valueCodes(SMALL_GZIP_BYTES, 1, (index) => [
    reversed(index, 5),
    5,
    index < 4 ? 0 : (index >> 1) - 1,
  ]);
}

/** The codes of all values from `first` to `last`, for symbols that each cover a power of two of them. */
function valueCodes(
  last: number,
  first: number,
  symbol: (index: number) => readonly [...Code, extraBits: number],
): Codes {
  const bits = new Uint32Array(last + 1);
  const counts = new Uint8Array(last + 1);
  let value = first;
  for (let index = 0; value <= last; index++) {
    const [code, count, extraBits] = symbol(index);
    for (let offset = 0; offset < 1 << extraBits && value <= last; offset++, value++) {
      bits[value] = code | (offset << count);
      counts[value] = count + extraBits;
    }
  }
  return { bits, counts };
}
