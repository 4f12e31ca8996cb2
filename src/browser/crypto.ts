/** The part of `node:crypto` that the engine uses, by @noble's libraries and micro-rsa-dsa-dh. */
import { randomBytes as random } from '@noble/hashes/utils.js';

export { X509Certificate } from './certificates.ts';
export { createCipheriv, createDecipheriv } from './ciphers.ts';
export { createHash, createHmac, hash } from './hashes.ts';
export { createSecretKey, generateKeyPairSync } from './key_object.ts';
export { createPrivateKey, createPublicKey } from './read_keys.ts';
export { constants, sign, verify } from './signing.ts';

export function randomBytes(count: number): Buffer {
  return Buffer.from(random(count));
}

/** Pages make no keys on other threads. */
export function generateKeyPair(): never {
  throw new TypeError('keys are not made on other threads in a page');
}

/** Throws for different lengths, as Node does. */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) throw new RangeError('the lengths differ');
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one[at]! ^ other[at]!;
  return difference === 0;
}
