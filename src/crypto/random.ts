import { randomBytes } from 'node:crypto';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 36 in a byte: above it a remainder would prefer some digits. */
const FAIR = 252;

/** Lower-case letters and digits that nobody can guess; 5.17 bits each. */
export function secretText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR && text.length < length) text += DIGITS[byte % 36]!;
    }
  }
  return text;
}

/** Uniform in [0, 1), from the system's source of secrets. */
export function secretFraction(): number {
  return randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
}

/** Bytes that nobody can guess. */
export function secretBytes(count: number): Uint8Array {
  return randomBytes(count);
}
