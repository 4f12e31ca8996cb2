import { DER } from './der.ts';

const LONG_LENGTH = 0x80;

/** One element of DER (ITU-T X.690 §8, §10) with its contents run together. */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(contents);
  return Buffer.concat([Uint8Array.of(tag), lengthOctets(body.length), body]);
}

/** X.690 §10.1: the shortest spelling of a length. */
function lengthOctets(length: number): Uint8Array {
  if (length < LONG_LENGTH) return Uint8Array.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(LONG_LENGTH + octets.length, ...octets);
}

/** An OBJECT IDENTIFIER from its dotted form (X.690 §8.19). */
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

/** A positive INTEGER from its bytes, the highest first (X.690 §8.3): no needless zeros, and one where a sign would be. */
export function writePositive(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const short = bytes.subarray(start);
  return writeDer(DER.integer, ...(short[0]! >= 0x80 ? [Uint8Array.of(0), short] : [short]));
}

/** A BIT STRING with these bits set, the first bit being 0; trailing zeros are not written (X.690 §11.2.2). */
export function writeBits(bits: readonly number[]): Uint8Array {
  const last = Math.max(...bits);
  const octets = new Uint8Array(Math.floor(last / 8) + 1);
  for (const bit of bits) octets[bit >> 3]! |= 0x80 >> (bit & 7);
  return writeDer(DER.bitString, Uint8Array.of(7 - (last & 7)), octets);
}
