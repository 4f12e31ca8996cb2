import type { KeyObject } from 'node:crypto';
import { fromBase64 } from './base64.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** Supported key types. */
export type KeyKind = 'p256' | 'ed25519' | 'rsa';

export type PublicKey = KeyObject;
export type PrivateKey = KeyObject;

/** Why a text is not a valid key, as the predicate of a sentence. */
export interface KeyProblem {
  readonly problem: string;
}

/** RSA keys below this size are refused (NIST SP 800-131A). */
export const RSA_MINIMUM_BITS = 2048;

const ED25519_SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const ED25519_PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Parses a public key: PEM, base64 of the DER (SubjectPublicKeyInfo), or 32 bytes of Ed25519 in base64. */
export function readPublicKey(text: string, kind: KeyKind): PublicKey | KeyProblem {
  const trimmed = text.trim();
  if (/PRIVATE KEY/.test(trimmed)) return { problem: 'is a private key; the public key is needed' };
  try {
    if (trimmed.startsWith('-----')) return ofKind(nodeCrypto().createPublicKey(trimmed), kind);
    const bytes = fromBase64(trimmed.replaceAll(/\s/g, ''));
    if (bytes === null) return { problem: 'is neither PEM nor base64' };
    const der =
      kind === 'ed25519' && bytes.length === 32
        ? Buffer.concat([ED25519_SPKI_HEAD, bytes])
        : Buffer.from(bytes);
    return ofKind(nodeCrypto().createPublicKey({ key: der, format: 'der', type: 'spki' }), kind);
  } catch {
    return { problem: 'cannot be read as a public key' };
  }
}

/** Parses a private key: PEM, base64 of PKCS#8, or 32 (or 64, seed first) bytes of Ed25519 in base64. */
export function readPrivateKey(text: string, kind: KeyKind): PrivateKey | KeyProblem {
  const trimmed = text.trim();
  try {
    if (trimmed.startsWith('-----')) return ofKind(nodeCrypto().createPrivateKey(trimmed), kind);
    const bytes = fromBase64(trimmed.replaceAll(/\s/g, ''));
    if (bytes === null) return { problem: 'is neither PEM nor base64' };
    const isSeed = kind === 'ed25519' && (bytes.length === 32 || bytes.length === 64);
    const der = isSeed ? Buffer.concat([ED25519_PKCS8_HEAD, bytes.subarray(0, 32)]) : Buffer.from(bytes);
    return ofKind(nodeCrypto().createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }), kind);
  } catch {
    return { problem: 'cannot be read as a private key' };
  }
}

function ofKind(key: KeyObject, kind: KeyKind): KeyObject | KeyProblem {
  const details = key.asymmetricKeyDetails;
  if (kind === 'p256') {
    const fits = key.asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1';
    return fits ? key : { problem: 'is not a P-256 key' };
  }
  if (kind === 'ed25519')
    return key.asymmetricKeyType === 'ed25519' ? key : { problem: 'is not an Ed25519 key' };
  if (key.asymmetricKeyType !== 'rsa') return { problem: 'is not an RSA key' };
  const bits = details?.modulusLength ?? 0;
  return bits >= RSA_MINIMUM_BITS
    ? key
    : { problem: `has ${bits} bits; at least ${RSA_MINIMUM_BITS} are needed` };
}
