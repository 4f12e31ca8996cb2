import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export type HashName = 'sha1' | 'sha256' | 'sha512';

/** Text is encoded as UTF-8. */
export type Piece = string | Uint8Array;

/** A key for `hmac`, prepared once for many requests. */
export type HmacKey = KeyObject;

/** Prepares bytes or UTF-8 text as an HMAC key. */
export function hmacKey(key: Piece): HmacKey {
  return typeof key === 'string' ? createSecretKey(key, 'utf8') : createSecretKey(key);
}

/** HMAC (RFC 2104) of the concatenated pieces, as hex or base64 text. */
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

/** Hash of the concatenated pieces, as hex or base64 text. */
export function digest(hash: HashName, pieces: readonly Piece[], encoding: 'hex' | 'base64'): string {
  const state = createHash(hash);
  for (const piece of pieces) state.update(piece);
  return state.digest(encoding);
}

/** Hash of a text, as bytes; for hashes in tokens (`at_hash`). */
export function longDigest(hash: 'sha256' | 'sha384' | 'sha512', text: string): Uint8Array {
  return createHash(hash).update(text, 'utf8').digest();
}
