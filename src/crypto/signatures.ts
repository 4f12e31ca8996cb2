import { sign, verify } from 'node:crypto';
import type { HashName, Piece } from './digest.ts';
import type { KeyKind, PrivateKey, PublicKey } from './keys.ts';

/** Ed25519 hashes by itself; the others are told how. ECDSA signatures are DER, RSA ones PKCS#1 v1.5. */
export interface SignatureScheme {
  readonly key: KeyKind;
  readonly hash: HashName | null;
}

/** Whether `signature` is that of the pieces run together; a malformed signature is simply not one. */
export function verifies(
  scheme: SignatureScheme,
  key: PublicKey,
  pieces: readonly Piece[],
  signature: Uint8Array,
): boolean {
  try {
    return verify(scheme.hash, joined(pieces), key, signature);
  } catch {
    return false;
  }
}

/** Signs the pieces run together. */
export function signed(scheme: SignatureScheme, key: PrivateKey, pieces: readonly Piece[]): Uint8Array {
  return sign(scheme.hash, joined(pieces), key);
}

function joined(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece)),
  );
}
