/** Keys in the shape of `KeyObject` of `node:crypto`: secret bytes, RSA, curves of NIST and Ed25519. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256, p384, p521 } from '@noble/curves/nist.js';
import type { PrivateKey as RsaPrivate, PublicKey as RsaPublic } from 'micro-rsa-dsa-dh/rsa.js';
import { DER } from '../crypto/der.ts';
import { writeDer, writeIdentifier, writePositive } from '../crypto/der_writer.ts';

/** Curves by the names of OpenSSL. */
// table: curves with their names in JWK (RFC 7518 §6.2.1.1) and their object identifiers (RFC 5480 §2.1.1.1)
export const CURVES = {
  prime256v1: { curve: p256, jwk: 'P-256', id: '1.2.840.10045.3.1.7' },
  secp384r1: { curve: p384, jwk: 'P-384', id: '1.3.132.0.34' },
  secp521r1: { curve: p521, jwk: 'P-521', id: '1.3.132.0.35' },
} as const;
export type CurveName = keyof typeof CURVES;

export const ID = {
  rsa: '1.2.840.113549.1.1.1',
  ec: '1.2.840.10045.2.1',
  ed25519: '1.3.101.112',
} as const;

export type KeyMaterial =
  | { readonly kind: 'secret'; readonly bytes: Uint8Array }
  | { readonly kind: 'rsa'; readonly key: RsaPublic; readonly secret?: RsaPrivate }
  /** `point` is uncompressed (SEC 1 §2.3.3). */
  | {
      readonly kind: 'ec';
      readonly curve: CurveName;
      readonly point: Uint8Array;
      readonly secret?: Uint8Array;
    }
  | { readonly kind: 'ed25519'; readonly point: Uint8Array; readonly secret?: Uint8Array };

export class KeyObject {
  readonly material: KeyMaterial;

  constructor(material: KeyMaterial) {
    this.material = material;
  }

  get type(): 'secret' | 'public' | 'private' {
    if (this.material.kind === 'secret') return 'secret';
    return this.material.secret === undefined ? 'public' : 'private';
  }

  get asymmetricKeyType(): 'rsa' | 'ec' | 'ed25519' | undefined {
    return this.material.kind === 'secret' ? undefined : this.material.kind;
  }

  get asymmetricKeyDetails(): { readonly modulusLength?: number; readonly namedCurve?: string } {
    const { material } = this;
    if (material.kind === 'rsa') return { modulusLength: material.key.n.toString(2).length };
    return material.kind === 'ec' ? { namedCurve: material.curve } : {};
  }

  secretBytes(): Uint8Array {
    if (this.material.kind !== 'secret') throw new TypeError('the key is not secret bytes');
    return this.material.bytes;
  }

  /** The public key as JWK (RFC 7517), or as SubjectPublicKeyInfo (RFC 5280 §4.1.2.7). */
  export({ format }: { readonly format: 'jwk' | 'der' }): Readonly<Record<string, string>> | Buffer {
    return format === 'jwk' ? jwkOf(this.material) : spkiOf(this.material);
  }

  hasSamePublicKey(other: KeyObject): boolean {
    return spkiOf(this.material).equals(spkiOf(other.material));
  }
}

export function createSecretKey(key: string | Uint8Array, _encoding?: 'utf8'): KeyObject {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'utf8') : Uint8Array.from(key);
  return new KeyObject({ kind: 'secret', bytes });
}

/** A new pair of keys on P-256; pages make no RSA keys, which takes seconds. */
export function generateKeyPairSync(type: string, _options: object): { readonly privateKey: KeyObject } {
  if (type !== 'ec') throw new TypeError(`keys of the type ${type} are not made in a page`);
  const secret = p256.utils.randomSecretKey();
  const point = p256.getPublicKey(secret, false);
  return { privateKey: new KeyObject({ kind: 'ec', curve: 'prime256v1', point, secret }) };
}

export const edPublicKey = (secret: Uint8Array): Uint8Array => ed25519.getPublicKey(secret);

export function ecPublicKey(curve: CurveName, secret: Uint8Array): Uint8Array {
  return CURVES[curve].curve.getPublicKey(secret, false);
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function jwkOf(material: KeyMaterial): Readonly<Record<string, string>> {
  switch (material.kind) {
    case 'secret':
      return { kty: 'oct', k: base64url(material.bytes) };
    case 'rsa': {
      const { n, e } = material.key;
      return { kty: 'RSA', n: base64url(bytesOf(n)), e: base64url(bytesOf(e)) };
    }
    case 'ec': {
      const { point, curve } = material;
      const half = (point.length - 1) / 2;
      const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)];
      return { kty: 'EC', x: base64url(x), y: base64url(y), crv: CURVES[curve].jwk };
    }
    case 'ed25519':
      return { crv: 'Ed25519', x: base64url(material.point), kty: 'OKP' };
  }
}

function spki(algorithm: readonly Uint8Array[], key: Uint8Array): Buffer {
  const bits = writeDer(DER.bitString, Uint8Array.of(0), key);
  return Buffer.from(writeDer(DER.sequence, writeDer(DER.sequence, ...algorithm), bits));
}

function spkiOf(material: KeyMaterial): Buffer {
  switch (material.kind) {
    case 'secret':
      throw new TypeError('a secret has no public key');
    case 'rsa': {
      const { n, e } = material.key;
      const key = writeDer(DER.sequence, writePositive(bytesOf(n)), writePositive(bytesOf(e)));
      return spki([writeIdentifier(ID.rsa), writeDer(DER.null)], key);
    }
    case 'ec':
      return spki([writeIdentifier(ID.ec), writeIdentifier(CURVES[material.curve].id)], material.point);
    case 'ed25519':
      return spki([writeIdentifier(ID.ed25519)], material.point);
  }
}

/** A positive number in big-endian bytes. */
function bytesOf(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
