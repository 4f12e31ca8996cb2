import { DER } from './der.ts';

const LONG_LENGTH = 0x80;

/** Encodes a DER element (ITU-T X.690 §8, §10); the contents are concatenated. */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(contents);
  return Buffer.concat([Uint8Array.of(tag), lengthOctets(body.length), body]);
}

/** X.690 §10.1: the shortest encoding of a length. */
function lengthOctets(length: number): Uint8Array {
  if (length < LONG_LENGTH) return Uint8Array.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(LONG_LENGTH + octets.length, ...octets);
}

/** Encodes an OBJECT IDENTIFIER given in dotted form (X.690 §8.19). */
export function writeIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return writeDer(DER.objectIdentifier, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(arc: number): number[] {
  const octets = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
    octets.unshift((rest % 128) + 128);
  }
  return octets;
}

/**
 * Encodes a positive INTEGER given in big-endian bytes (X.690 §8.3): minimal, with a leading zero if the sign
 * bit is set.
 */
export function writePositive(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const short = bytes.subarray(start);
  return writeDer(DER.integer, ...(short[0]! >= 0x80 ? [Uint8Array.of(0), short] : [short]));
}

/** Encodes a BIT STRING with these bits set; the first bit is 0, trailing zeros are omitted (X.690 §11.2.2). */
export function writeBits(bits: readonly number[]): Uint8Array {
  const last = Math.max(...bits);
  const octets = new Uint8Array(Math.floor(last / 8) + 1);
  for (const bit of bits) octets[bit >> 3]! |= 0x80 >> (bit & 7);
  return writeDer(DER.bitString, Uint8Array.of(7 - (last & 7)), octets);
}
