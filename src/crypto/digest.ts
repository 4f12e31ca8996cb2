import type { KeyObject } from 'node:crypto';
import { nodeCrypto } from '../loading/builtins.ts';

export type HashName = 'sha1' | 'sha256' | 'sha512';

/** Text is encoded as UTF-8. */
export type Piece = string | Uint8Array;

/** A key for `hmac`, prepared once for many requests. */
export type HmacKey = KeyObject;

/** Prepares bytes or UTF-8 text as an HMAC key. */
export function hmacKey(key: Piece): HmacKey {
  return typeof key === 'string'
    ? nodeCrypto().createSecretKey(key, 'utf8')
    : nodeCrypto().createSecretKey(key);
}

/** HMAC (RFC 2104) of the concatenated pieces, as hex or base64 text. */
export function hmac(
  hash: HashName,
  key: HmacKey,
  pieces: readonly Piece[],
  encoding: 'hex' | 'base64',
): string {
  const state = nodeCrypto().createHmac(hash, key);
  for (const piece of pieces) state.update(piece);
  return state.digest(encoding);
}

/** Hash of the concatenated pieces, as hex or base64 text. */
export function digest(hash: HashName, pieces: readonly Piece[], encoding: 'hex' | 'base64'): string {
  if (pieces.length === 1) return nodeCrypto().hash(hash, pieces[0]!, encoding);
  const state = nodeCrypto().createHash(hash);
  for (const piece of pieces) state.update(piece);
  return state.digest(encoding);
}

/** Hash of a text, as bytes; for hashes in tokens (`at_hash`). */
export function longDigest(hash: 'sha256' | 'sha384' | 'sha512', text: string): Uint8Array {
  return nodeCrypto().createHash(hash).update(text, 'utf8').digest();
}

export type FingerprintName = 'md5' | 'sha1' | 'sha256' | 'sha512';

/** The digest of a text in UTF-8 (RFC 1321, FIPS 180-4). MD5 and SHA-1 are not collision resistant. */
export function fingerprint(name: FingerprintName, text: string, encoding: 'hex' | 'base64'): string {
  return nodeCrypto().createHash(name).update(text, 'utf8').digest(encoding);
}

/**
 * Compares texts in constant time. The comparison may disclose their lengths, so use it only if the expected
 * length is public, like that of a signature.
 */
export function equalTexts(one: string, other: string): boolean {
  const left = Buffer.from(one, 'utf8');
  const right = Buffer.from(other, 'utf8');
  return left.length === right.length && nodeCrypto().timingSafeEqual(left, right);
}

/** Like `equalTexts`, but hides the length of a secret by comparing digests. */
export function equalSecrets(one: string, other: string): boolean {
  return nodeCrypto().timingSafeEqual(longDigest('sha256', one), longDigest('sha256', other));
}
