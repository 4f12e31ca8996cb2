import { nodeCrypto } from '../loading/builtins.ts';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 36 in a byte; higher values would bias the remainder. */
const FAIR = 252;

/** Random lower-case letters and digits; 5.17 bits each. */
export function secretText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of nodeCrypto().randomBytes(length)) {
      if (byte < FAIR && text.length < length) text += DIGITS[byte % 36]!;
    }
  }
  return text;
}

/** Cryptographically random, uniform in [0, 1). */
export function secretFraction(): number {
  return nodeCrypto().randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
}

/** Cryptographically random bytes. */
export function secretBytes(count: number): Uint8Array {
  return nodeCrypto().randomBytes(count);
}
