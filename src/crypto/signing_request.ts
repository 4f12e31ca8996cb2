import { type KeyObject, createPublicKey, verify } from 'node:crypto';
import { DER, derChildren, derIdentifier, readDer } from './der.ts';
import { writeDer } from './der_writer.ts';

const BLOCK =
  /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]*)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** Hashes by signature algorithm (RFC 4055 §5, RFC 5758 §3.2, RFC 8410 §3). */
// table: signature algorithms of requests
const HASHES: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

/**
 * The public key of a PEM certificate signing request (RFC 2986 §4), as SubjectPublicKeyInfo; null unless the
 * request is signed with that key.
 */
export function keyOfSigningRequest(pem: string): Uint8Array | null {
  const text = BLOCK.exec(pem)?.[1];
  const whole = text === undefined ? null : readDer(Buffer.from(text, 'base64'));
  const [info, algorithm, signature] = derChildren(whole?.[0], DER.sequence) ?? [];
  const key = derChildren(info, DER.sequence)?.[2];
  const hash = HASHES[derIdentifier(derChildren(algorithm, DER.sequence)?.[0]) ?? ''];
  if (key === undefined || hash === undefined || signature?.tag !== DER.bitString) return null;
  const spki = writeDer(key.tag, key.contents);
  const publicKey = readKey(spki);
  if (publicKey === null) return null;
  const signed = writeDer(info!.tag, info!.contents);
  return isSigned(hash, signed, publicKey, signature.contents.subarray(1)) ? spki : null;
}

function readKey(spki: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

function isSigned(hash: string | null, signed: Uint8Array, key: KeyObject, signature: Uint8Array): boolean {
  try {
    return verify(hash, signed, key, signature);
  } catch {
    return false;
  }
}
