import type { KeyObject } from 'node:crypto';
import { nodeCrypto } from '../loading/builtins.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key for `seal` and `unseal`. */
export type SealingKey = KeyObject;

/** Generates a key as text for storage. */
export function newSealingKey(): string {
  return nodeCrypto().randomBytes(KEY_BYTES).toString('base64');
}

/** Parses a stored key; null if it is invalid. */
export function readSealingKey(text: string): SealingKey | null {
  const bytes = Buffer.from(text.trim(), 'base64');
  return bytes.length === KEY_BYTES ? nodeCrypto().createSecretKey(bytes) : null;
}

/**
 * Seals a text with AES-256-GCM (NIST SP 800-38D): nonce, tag and ciphertext in base64. `place` is
 * authenticated, so the sealed text cannot be opened at another place.
 */
export function seal(key: SealingKey, text: string, place: string): string {
  const nonce = nodeCrypto().randomBytes(NONCE_BYTES);
  const cipher = nodeCrypto().createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

/** Opens a sealed text; null if it was changed, moved, or sealed with another key. */
export function unseal(key: SealingKey, sealed: string, place: string): string | null {
  const bytes = Buffer.from(sealed, 'base64');
  return bytes.length < NONCE_BYTES + TAG_BYTES ? null : opened(key, bytes, place);
}

function opened(key: SealingKey, bytes: Buffer, place: string): string | null {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const cipher = nodeCrypto().createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/**
 * Seals like `seal`, as base64url for a cookie or a URL. The caller provides the nonce: twelve random bytes,
 * new for each text.
 */
export function sealCompact(key: SealingKey, text: string, place: string, nonce: Uint8Array): string {
  const cipher = nodeCrypto().createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/**
 * Opens the result of `sealCompact`; null if it was changed, truncated, moved, re-encoded, or sealed with
 * another key.
 */
export function unsealCompact(key: SealingKey, sealed: string, place: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return null;
  return opened(key, bytes, place);
}

export const SEALING_NONCE_BYTES: number = NONCE_BYTES;
