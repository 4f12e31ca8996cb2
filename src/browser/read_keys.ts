/** Reads keys from PEM, DER and JWK in the shape of `node:crypto`. Throws for what is not a supported key. */
import { DER, type DerElement, derChildren, derIdentifier, readDer } from '../crypto/der.ts';
import { CURVES, type CurveName, ID, KeyObject, ecPublicKey, edPublicKey, numberOf } from './key_object.ts';

type Jwk = Readonly<Record<string, unknown>>;
type KeyInput =
  | string
  | KeyObject
  | { readonly key: Jwk; readonly format: 'jwk' }
  | { readonly key: Uint8Array; readonly format: 'der'; readonly type: 'spki' | 'pkcs8' };

const unreadable = (): never => {
  throw new TypeError('the key cannot be read');
};

/** A public key, or that of a private one. */
export function createPublicKey(input: KeyInput): KeyObject {
  if (input instanceof KeyObject) return withoutSecret(input);
  if (typeof input === 'string') {
    const { label, bytes } = pemBlock(input);
    if (label === 'PUBLIC KEY') return publicOfSpki(bytes);
    if (label === 'RSA PUBLIC KEY') return rsaPublic(bytes);
    return label === 'CERTIFICATE' ? publicOfCertificate(bytes) : withoutSecret(privateOf(label, bytes));
  }
  if (input.format === 'jwk') return publicOfJwk(input.key);
  return input.type === 'spki' ? publicOfSpki(input.key) : unreadable();
}

export function createPrivateKey(input: KeyInput): KeyObject {
  if (typeof input === 'string') {
    const { label, bytes } = pemBlock(input);
    return privateOf(label, bytes);
  }
  if (input instanceof KeyObject || input.format === 'jwk' || input.type !== 'pkcs8') return unreadable();
  return privateOf('PRIVATE KEY', input.key);
}

/** The public key in a certificate (RFC 5280 §4.1). */
export function publicOfCertificate(der: Uint8Array): KeyObject {
  const [signed] = derChildren(readDer(der)?.[0], DER.sequence) ?? [];
  const fields = derChildren(signed, DER.sequence) ?? [];
  const spki = fields[(fields[0]?.tag === 0xa0 ? 1 : 0) + 5];
  return spki === undefined ? unreadable() : publicOfInfo(spki);
}

/** The first block of a PEM text (RFC 7468). */
export function pemBlock(text: string): { readonly label: string; readonly bytes: Uint8Array } {
  const [, label, body] = /-----BEGIN ([A-Z ]+)-----([\s\S]*?)-----END \1-----/.exec(text) ?? unreadable();
  const base64 = body!.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return unreadable();
  return { label: label!, bytes: Buffer.from(base64, 'base64') };
}

function withoutSecret({ material }: KeyObject): KeyObject {
  if (material.kind === 'secret') return unreadable();
  const { secret: _secret, ...open } = material;
  return new KeyObject(open);
}

const publicOfSpki = (der: Uint8Array): KeyObject => publicOfInfo(readDer(der)?.[0]);

function publicOfInfo(info: DerElement | undefined): KeyObject {
  const [algorithm, bits] = derChildren(info, DER.sequence) ?? [];
  const [id, parameters] = derChildren(algorithm, DER.sequence) ?? [];
  if (bits?.tag !== DER.bitString || bits.contents[0] !== 0) return unreadable();
  const key = bits.contents.subarray(1);
  switch (derIdentifier(id) ?? '') {
    case ID.rsa:
      return rsaPublic(key);
    case ID.ec:
      return ecPublic(curveOf(parameters), key);
    case ID.ed25519:
      return edPublic(key);
    default:
      return unreadable();
  }
}

function integersOf(der: Uint8Array): bigint[] {
  const parts = derChildren(readDer(der)?.[0], DER.sequence) ?? unreadable();
  return parts.map(({ tag, contents }) => (tag === DER.integer ? numberOf(contents) : unreadable()));
}

function rsaPublic(der: Uint8Array): KeyObject {
  const [n, e] = integersOf(der);
  return n === undefined || e === undefined ? unreadable() : new KeyObject({ kind: 'rsa', key: { n, e } });
}

function ecPublic(curve: CurveName, point: Uint8Array): KeyObject {
  const { curve: of } = CURVES[curve];
  return new KeyObject({ kind: 'ec', curve, point: of.Point.fromBytes(point).toBytes(false) });
}

function edPublic(point: Uint8Array): KeyObject {
  return point.length === 32
    ? new KeyObject({ kind: 'ed25519', point: Uint8Array.from(point) })
    : unreadable();
}

function curveOf(parameters: DerElement | undefined): CurveName {
  const id = derIdentifier(parameters);
  const names = Object.keys(CURVES) as CurveName[];
  return names.find((name) => CURVES[name].id === id) ?? unreadable();
}

function privateOf(label: string, der: Uint8Array): KeyObject {
  if (label === 'RSA PRIVATE KEY') return rsaPrivate(der);
  if (label === 'EC PRIVATE KEY') return ecPrivate(null, der);
  if (label !== 'PRIVATE KEY') return unreadable();
  // PKCS #8 (RFC 5958 §2): version, algorithm, key
  const [, algorithm, key] = derChildren(readDer(der)?.[0], DER.sequence) ?? [];
  const [id, parameters] = derChildren(algorithm, DER.sequence) ?? [];
  if (key?.tag !== DER.octetString) return unreadable();
  switch (derIdentifier(id) ?? '') {
    case ID.rsa:
      return rsaPrivate(key.contents);
    case ID.ec:
      return ecPrivate(curveOf(parameters), key.contents);
    case ID.ed25519: {
      const secret = readDer(key.contents)?.[0]?.contents ?? unreadable();
      return new KeyObject({ kind: 'ed25519', point: edPublicKey(secret), secret });
    }
    default:
      return unreadable();
  }
}

/** RFC 8017 §A.1.2: version, n, e, d. */
function rsaPrivate(der: Uint8Array): KeyObject {
  const [, n, e, d] = integersOf(der);
  if (n === undefined || e === undefined || d === undefined) return unreadable();
  return new KeyObject({ kind: 'rsa', key: { n, e }, secret: { n, d } });
}

/** RFC 5915 §3: version, key, parameters. */
function ecPrivate(stated: CurveName | null, der: Uint8Array): KeyObject {
  const [, key, ...rest] = derChildren(readDer(der)?.[0], DER.sequence) ?? [];
  const parameters = rest.find(({ tag }) => tag === 0xa0);
  const curve = stated ?? curveOf(readDer(parameters?.contents ?? new Uint8Array())?.[0]);
  const secret = key?.contents ?? unreadable();
  return new KeyObject({ kind: 'ec', curve, point: ecPublicKey(curve, secret), secret });
}

function publicOfJwk({ kty, crv, n, e, x, y }: Jwk): KeyObject {
  if (kty === 'RSA') {
    return new KeyObject({ kind: 'rsa', key: { n: numberOf(decoded(n)), e: numberOf(decoded(e)) } });
  }
  if (kty === 'EC') {
    const names = Object.keys(CURVES) as CurveName[];
    const curve = names.find((name) => CURVES[name].jwk === crv) ?? unreadable();
    return ecPublic(curve, Buffer.concat([Uint8Array.of(4), decoded(x), decoded(y)]));
  }
  return kty === 'OKP' && crv === 'Ed25519' ? edPublic(decoded(x)) : unreadable();
}

function decoded(value: unknown): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'base64url') : unreadable();
}
