import type { HashName, Piece } from './digest.ts';
import type { KeyKind, PrivateKey, PublicKey } from './keys.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** `hash` is null for Ed25519. ECDSA signatures are DER; RSA uses PKCS#1 v1.5. */
export interface SignatureScheme {
  readonly key: KeyKind;
  readonly hash: HashName | null;
}

/** Verifies the signature of the concatenated pieces; false for a malformed signature. */
export function verifies(
  scheme: SignatureScheme,
  key: PublicKey,
  pieces: readonly Piece[],
  signature: Uint8Array,
): boolean {
  try {
    return nodeCrypto().verify(scheme.hash, joined(pieces), key, signature);
  } catch {
    return false;
  }
}

/** Signs the concatenated pieces. */
export function signed(scheme: SignatureScheme, key: PrivateKey, pieces: readonly Piece[]): Uint8Array {
  return nodeCrypto().sign(scheme.hash, joined(pieces), key);
}

function joined(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece)),
  );
}
