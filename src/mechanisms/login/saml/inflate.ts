/** Raw DEFLATE (RFC 1951), for the redirect binding alone: messages are small, and what they grow to is limited. */

const LENGTH_BASE = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
/** Order in which lengths of codes are sent (RFC 1951 §3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const LONGEST_CODE = 15;
const END_OF_BLOCK = 256;

/** A canonical Huffman code (RFC 1951 §3.2.2): how many codes have each length, and their symbols in order. */
interface Huffman {
  readonly counts: readonly number[];
  readonly symbols: readonly number[];
}

function huffman(lengths: readonly number[]): Huffman {
  const counts = Array.from({ length: LONGEST_CODE + 1 }, () => 0);
  for (const length of lengths) if (length > 0) counts[length]!++;
  const symbols = lengths
    .map((length, symbol) => ({ length, symbol }))
    .filter(({ length }) => length > 0)
    .sort((one, other) => one.length - other.length || one.symbol - other.symbol)
    .map(({ symbol }) => symbol);
  return { counts, symbols };
}

const run = (count: number, value: number): number[] => Array.from({ length: count }, () => value);
const FIXED_LITERALS = huffman([...run(144, 8), ...run(112, 9), ...run(24, 7), ...run(8, 8)]);
const FIXED_DISTANCES = huffman(run(30, 5));

class Malformed extends Error {}

/** Bits of the input, the lowest of each octet first. */
interface Bits {
  readonly bytes: Uint8Array;
  at: number;
}

/** The inflated bytes; null when the input is malformed, does not end with its last block, or grows over the limit. */
export function inflateRaw(bytes: Uint8Array, limitBytes: number): Uint8Array | null {
  const bits: Bits = { bytes, at: 0 };
  const out: number[] = [];
  try {
    for (let isLast = false; !isLast;) {
      isLast = take(bits, 1) === 1;
      const kind = take(bits, 2);
      if (kind === 0) stored(bits, out, limitBytes);
      else if (kind === 1) compressed(bits, out, limitBytes, FIXED_LITERALS, FIXED_DISTANCES);
      else if (kind === 2) compressed(bits, out, limitBytes, ...dynamicCodes(bits));
      else throw new Malformed();
    }
    return Math.ceil(bits.at / 8) === bytes.length ? Uint8Array.from(out) : null;
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function take(bits: Bits, count: number): number {
  let value = 0;
  for (let bit = 0; bit < count; bit++) {
    const octet = bits.bytes[bits.at >> 3];
    if (octet === undefined) throw new Malformed();
    value |= ((octet >> (bits.at & 7)) & 1) << bit;
    bits.at++;
  }
  return value;
}

function stored(bits: Bits, out: number[], limitBytes: number): void {
  bits.at = Math.ceil(bits.at / 8) * 8;
  const length = take(bits, 16);
  if ((length ^ 0xffff) !== take(bits, 16)) throw new Malformed();
  for (let left = length; left > 0; left--) put(out, take(bits, 8), limitBytes);
}

function put(out: number[], octet: number, limitBytes: number): void {
  if (out.length === limitBytes) throw new Malformed();
  out.push(octet);
}

function compressed(
  bits: Bits,
  out: number[],
  limitBytes: number,
  literals: Huffman,
  distances: Huffman,
): void {
  for (;;) {
    const symbol = decode(bits, literals);
    if (symbol === END_OF_BLOCK) return;
    if (symbol < END_OF_BLOCK) {
      put(out, symbol, limitBytes);
      continue;
    }
    const length = extended(bits, symbol - END_OF_BLOCK - 1, LENGTH_BASE, LENGTH_EXTRA);
    const distance = extended(bits, decode(bits, distances), DISTANCE_BASE, DISTANCE_EXTRA);
    if (distance > out.length) throw new Malformed();
    for (let left = length; left > 0; left--) put(out, out[out.length - distance]!, limitBytes);
  }
}

function extended(bits: Bits, index: number, base: readonly number[], extra: readonly number[]): number {
  const least = base[index];
  if (least === undefined) throw new Malformed();
  return least + take(bits, extra[index]!);
}

function decode(bits: Bits, { counts, symbols }: Huffman): number {
  let code = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length <= LONGEST_CODE; length++) {
    code |= take(bits, 1);
    const count = counts[length]!;
    if (code - count < first) return symbols[index + code - first]!;
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  throw new Malformed();
}

function dynamicCodes(bits: Bits): [literals: Huffman, distances: Huffman] {
  const literals = take(bits, 5) + 257;
  const distances = take(bits, 5) + 1;
  const sent = take(bits, 4) + 4;
  const lengthsOfLengths = run(19, 0);
  for (let index = 0; index < sent; index++) lengthsOfLengths[ORDER[index]!] = take(bits, 3);
  const code = huffman(lengthsOfLengths);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) {
    const symbol = decode(bits, code);
    if (symbol < 16) lengths.push(symbol);
    else if (symbol === 16) {
      const last = lengths.at(-1);
      if (last === undefined) throw new Malformed();
      lengths.push(...run(take(bits, 2) + 3, last));
    } else lengths.push(...run(symbol === 17 ? take(bits, 3) + 3 : take(bits, 7) + 11, 0));
  }
  if (lengths.length > literals + distances) throw new Malformed();
  return [huffman(lengths.slice(0, literals)), huffman(lengths.slice(literals))];
}

const STORED_LIMIT = 0xffff;

/** Raw DEFLATE without compression (RFC 1951 §3.2.4): what is sent here is small. */
export function deflateStored(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let from = 0; from === 0 || from < bytes.length; from += STORED_LIMIT) {
    const block = bytes.subarray(from, from + STORED_LIMIT);
    const isLast = from + STORED_LIMIT >= bytes.length;
    const { length } = block;
    blocks.push(
      Uint8Array.of(isLast ? 1 : 0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff),
      block,
    );
  }
  return Buffer.concat(blocks);
}
