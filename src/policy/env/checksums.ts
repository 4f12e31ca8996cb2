/** Checksums without cryptographic strength: CRC-32, CRC-64 and xxHash64, each as bytes, most significant first. */
import { nodeZlib } from '../../loading/builtins.ts';

/** x^64 + x^4 + x^3 + x + 1 (ISO 3309), reflected: only its high word is nonzero. */
const CRC64_REFLECTED_HIGH = 0xd8_00_00_00;

/** Low and high words of the CRC-64 table. */
const CRC64_LOW = new Uint32Array(256);
const CRC64_HIGH = new Uint32Array(256);
for (let index = 0; index < 256; index++) {
  let low = index;
  let high = 0;
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = low & 1;
    low = ((low >>> 1) | (high << 31)) >>> 0;
    high = (high >>> 1) ^ (isOdd ? CRC64_REFLECTED_HIGH : 0);
  }
  CRC64_LOW[index] = low;
  CRC64_HIGH[index] = high;
}

/** CRC-32 of IEEE 802.3. */
export function crc32(bytes: Uint8Array): Uint8Array {
  return bytesOf([nodeZlib().crc32(bytes)]);
}

/** CRC-64 with the ISO 3309 polynomial, inverted at start and end, as Go's `crc64.ISO` table. */
export function crc64(bytes: Uint8Array): Uint8Array {
  let low = 0xff_ff_ff_ff;
  let high = 0xff_ff_ff_ff;
  for (const byte of bytes) {
    const index = (low ^ byte) & 255;
    low = ((low >>> 8) | (high << 24)) ^ CRC64_LOW[index]!;
    high = (high >>> 8) ^ CRC64_HIGH[index]!;
  }
  return bytesOf([~high, ~low]);
}

function bytesOf(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [index, bits] of words.entries()) view.setUint32(index * 4, bits >>> 0);
  return bytes;
}

/** 64 bits in two words, changed in place: xxHash64 needs products and rotations modulo 2^64. */
interface Word {
  high: number;
  low: number;
}

function word(high: number, low: number): Word {
  return { high: high >>> 0, low: low >>> 0 };
}

const PRIME_1 = word(0x9e_37_79_b1, 0x85_eb_ca_87);
const PRIME_2 = word(0xc2_b2_ae_3d, 0x27_d4_eb_4f);
const PRIME_3 = word(0x16_56_67_b1, 0x9e_37_79_f9);
const PRIME_4 = word(0x85_eb_ca_77, 0xc2_b2_ae_63);
const PRIME_5 = word(0x27_d4_eb_2f, 0x16_56_67_c5);

function add(to: Word, by: Word): Word {
  const low = to.low + by.low;
  to.high = (to.high + by.high + (low > 0xff_ff_ff_ff ? 1 : 0)) >>> 0;
  to.low = low >>> 0;
  return to;
}

function xor(to: Word, by: Word): Word {
  to.high = (to.high ^ by.high) >>> 0;
  to.low = (to.low ^ by.low) >>> 0;
  return to;
}

function multiply(to: Word, by: Word): Word {
  // Schoolbook multiplication with 16-bit digits: every partial product and sum is exact.
  const a0 = to.low & 0xffff;
  const a1 = to.low >>> 16;
  const b0 = by.low & 0xffff;
  const b1 = by.low >>> 16;
  const low = a0 * b0;
  const middle = a1 * b0 + (low >>> 16);
  const cross = a0 * b1 + (middle & 0xffff);
  const carry = a1 * b1 + Math.floor(middle / 0x1_00_00) + Math.floor(cross / 0x1_00_00);
  const high = (carry + Math.imul(to.high, by.low) + Math.imul(to.low, by.high)) % 0x1_00_00_00_00;
  to.low = (((cross & 0xffff) << 16) | (low & 0xffff)) >>> 0;
  to.high = high >>> 0;
  return to;
}

/** Rotates by 1 to 31 bits. */
function rotate(to: Word, bits: number): Word {
  const { high, low } = to;
  to.high = ((high << bits) | (low >>> (32 - bits))) >>> 0;
  to.low = ((low << bits) | (high >>> (32 - bits))) >>> 0;
  return to;
}

function round(accumulator: Word, lane: Word): Word {
  return multiply(rotate(add(accumulator, multiply(lane, PRIME_2)), 31), PRIME_1);
}

function lane64(view: DataView, at: number): Word {
  return word(view.getUint32(at + 4, true), view.getUint32(at, true));
}

/** xxHash64 with seed 0 (xxHash specification, XXH64 algorithm description). */
export function xxhash64(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const hash = bytes.length >= 32 ? stripes(view, (at = bytes.length - (bytes.length % 32))) : { ...PRIME_5 };
  add(hash, word(0, bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    xor(hash, round(word(0, 0), lane64(view, at)));
    add(multiply(rotate(hash, 27), PRIME_1), PRIME_4);
  }
  if (at + 4 <= bytes.length) {
    xor(hash, multiply(word(0, view.getUint32(at, true)), PRIME_1));
    add(multiply(rotate(hash, 23), PRIME_2), PRIME_3);
    at += 4;
  }
  for (; at < bytes.length; at++) {
    xor(hash, multiply(word(0, bytes[at]!), PRIME_5));
    multiply(rotate(hash, 11), PRIME_1);
  }
  avalanche(hash);
  return bytesOf([hash.high, hash.low]);
}

/** Steps 1 to 3: four accumulators over stripes of 32 bytes, up to `end`. */
function stripes(view: DataView, end: number): Word {
  const accumulators = [
    add({ ...PRIME_1 }, PRIME_2),
    { ...PRIME_2 },
    word(0, 0),
    word(-(PRIME_1.high + 1), -PRIME_1.low),
  ];
  for (let at = 0; at < end; at += 32) {
    for (let lane = 0; lane < 4; lane++) round(accumulators[lane]!, lane64(view, at + lane * 8));
  }
  const [one, two, three, four] = accumulators as [Word, Word, Word, Word];
  const hash = rotate({ ...one }, 1);
  add(hash, rotate({ ...two }, 7));
  add(hash, rotate({ ...three }, 12));
  add(hash, rotate({ ...four }, 18));
  for (const accumulator of accumulators) {
    xor(hash, round(word(0, 0), accumulator));
    add(multiply(hash, PRIME_1), PRIME_4);
  }
  return hash;
}

function avalanche(hash: Word): void {
  hash.low = (hash.low ^ (hash.high >>> 1)) >>> 0;
  multiply(hash, PRIME_2);
  const { high, low } = hash;
  xor(hash, word(high >>> 29, (high << 3) | (low >>> 29)));
  multiply(hash, PRIME_3);
  hash.low = (hash.low ^ hash.high) >>> 0;
}
