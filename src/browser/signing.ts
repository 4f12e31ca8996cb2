/** Signatures in the shape of `sign` and `verify` of `node:crypto`. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { PKCS1_SHA1, PKCS1_SHA256, PKCS1_SHA384, PKCS1_SHA512, PSS, mgf1 } from 'micro-rsa-dsa-dh/rsa.js';
import { hashNamed } from './hashes.ts';
import { CURVES, KeyObject } from './key_object.ts';

export const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
} as const;

interface WithOptions {
  readonly key: KeyObject;
  readonly dsaEncoding?: 'der' | 'ieee-p1363';
  readonly padding?: number;
}

type Given = KeyObject | WithOptions;
const optionsOf = (given: Given): WithOptions => (given instanceof KeyObject ? { key: given } : given);

const PKCS1 = { sha1: PKCS1_SHA1, sha256: PKCS1_SHA256, sha384: PKCS1_SHA384, sha512: PKCS1_SHA512 } as const;

function rsaScheme(name: string, padding: number = constants.RSA_PKCS1_PADDING) {
  if (padding === constants.RSA_PKCS1_PSS_PADDING) {
    const hash = hashNamed(name);
    return PSS(hash, mgf1(hash), hash.outputLen);
  }
  return PKCS1[name as keyof typeof PKCS1];
}

/** ECDSA as OpenSSL does it: the hash is given, and the second number may be high. */
const ECDSA = { prehash: false, lowS: false } as const;

/** `hash` is null for Ed25519. */
export function verify(hash: string | null, data: Uint8Array, given: Given, signature: Uint8Array): boolean {
  const { key, padding, dsaEncoding = 'der' } = optionsOf(given);
  const { material } = key;
  switch (material.kind) {
    case 'secret':
      throw new TypeError('a secret verifies no signature');
    case 'rsa':
      return rsaScheme(hash!, padding).verify(material.key, data, signature);
    case 'ec': {
      const format = dsaEncoding === 'der' ? 'der' : 'compact';
      const digest = hashNamed(hash!)(data);
      return CURVES[material.curve].curve.verify(signature, digest, material.point, { ...ECDSA, format });
    }
    case 'ed25519':
      return ed25519.verify(signature, data, material.point, { zip215: false });
  }
}

export function sign(hash: string | null, data: Uint8Array, given: Given): Buffer {
  const { key, padding, dsaEncoding = 'der' } = optionsOf(given);
  const { material } = key;
  if (material.kind === 'secret' || material.secret === undefined)
    throw new TypeError('only private keys sign');
  switch (material.kind) {
    case 'rsa':
      return Buffer.from(rsaScheme(hash!, padding).sign(material.secret, data));
    case 'ec': {
      const format = dsaEncoding === 'der' ? 'der' : 'compact';
      const digest = hashNamed(hash!)(data);
      return Buffer.from(CURVES[material.curve].curve.sign(digest, material.secret, { ...ECDSA, format }));
    }
    case 'ed25519':
      return Buffer.from(ed25519.sign(data, material.secret));
  }
}
