import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

export type HashName = 'sha1' | 'sha256' | 'sha512';

/** Text is taken as UTF-8; bytes are taken as they are. */
export type Piece = string | Uint8Array;

/** A key for `hmac`, prepared once so that no request pays for it. */
export type HmacKey = KeyObject;

/** Prepares bytes (or UTF-8 text) as an HMAC key. */
export function hmacKey(key: Piece): HmacKey {
  return typeof key === 'string' ? createSecretKey(key, 'utf8') : createSecretKey(key);
}

/** HMAC (RFC 2104) of the pieces run together, as hex or base64 text. */
export function hmac(
  hash: HashName,
  key: HmacKey,
  pieces: readonly Piece[],
  encoding: 'hex' | 'base64',
): string {
  const state = createHmac(hash, key);
  for (const piece of pieces) state.update(piece);
  return state.digest(encoding);
}

/** Hash of the pieces run together, as hex or base64 text. */
export function digest(hash: HashName, pieces: readonly Piece[], encoding: 'hex' | 'base64'): string {
  const state = createHash(hash);
  for (const piece of pieces) state.update(piece);
  return state.digest(encoding);
}

/** Hash of a text, as bytes; for the hashes that tokens name (`at_hash`). */
export function longDigest(hash: 'sha256' | 'sha384' | 'sha512', text: string): Uint8Array {
  return createHash(hash).update(text, 'utf8').digest();
}

export type FingerprintName = 'md5' | 'sha1' | 'sha256' | 'sha512';

/** The digest of a text's UTF-8 bytes (RFC 1321, FIPS 180-4). MD5 and SHA-1 tell contents apart, not attackers. */
export function fingerprint(name: FingerprintName, text: string, encoding: 'hex' | 'base64'): string {
  return createHash(name).update(text, 'utf8').digest(encoding);
}

/**
 * Whether two texts are the same, in time that tells nothing of where they differ. Their lengths may be learnt:
 * use it where the length of the right answer is known to all, as that of a signature is.
 */
export function equalTexts(one: string, other: string): boolean {
  const left = Buffer.from(one, 'utf8');
  const right = Buffer.from(other, 'utf8');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Like `equalTexts`, and the length of a secret is not told either: digests of equal length are compared. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(longDigest('sha256', one), longDigest('sha256', other));
}
