import type { KeyObject } from 'node:crypto';
import { type KeyProblem, RSA_MINIMUM_BITS } from './keys.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** Signature algorithms of RFC 7518 §3.1 and RFC 8037 §3.1; never `none`. */
export const JWS_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
] as const;

export type JwsAlgorithm = (typeof JWS_ALGORITHMS)[number];

/** A verification key with its allowed algorithms; it is never used with others. */
export interface JwsKey {
  /** `kid`; null if the key has none. */
  readonly id: string | null;
  readonly algorithms: readonly JwsAlgorithm[];
  readonly key: KeyObject;
}

const CURVES: Readonly<Record<string, JwsAlgorithm>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
};
const RSA_ALGORITHMS: readonly JwsAlgorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const HMAC_ALGORITHMS: readonly JwsAlgorithm[] = ['HS256', 'HS384', 'HS512'];

/**
 * Parses a JSON Web Key (RFC 7517) for verification. Keys for another use, of an unsupported type or too weak
 * are problems; of a private key only the public part is used.
 */
export function readJwk(jwk: unknown): JwsKey | KeyProblem {
  if (typeof jwk !== 'object' || jwk === null) return { problem: 'is not an object' };
  const { kid, use, key_ops: operations, alg, ...members } = jwk as Readonly<Record<string, unknown>>;
  if (use !== undefined && use !== 'sig') return { problem: 'is not a signature key' };
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return { problem: 'is not a verification key' };
  }
  try {
    const read = readMembers(members);
    if ('problem' in read) return read;
    const algorithms = alg === undefined ? read.algorithms : read.algorithms.filter((each) => each === alg);
    if (algorithms.length === 0) return { problem: 'has an algorithm that does not match its type' };
    return { id: typeof kid === 'string' ? kid : null, algorithms, key: read.key };
  } catch {
    return { problem: 'cannot be read as a key' };
  }
}

function readMembers(members: Readonly<Record<string, unknown>>): Omit<JwsKey, 'id'> | KeyProblem {
  const { kty, crv } = members;
  if (kty === 'oct') return readSecret(members['k']);
  if (kty === 'RSA') {
    const key = publicKey({ kty, n: members['n'], e: members['e'] });
    if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_MINIMUM_BITS) {
      return { problem: `has fewer than ${RSA_MINIMUM_BITS} bits` };
    }
    return { algorithms: RSA_ALGORITHMS, key };
  }
  if (kty === 'EC') {
    const algorithm = typeof crv === 'string' && Object.hasOwn(CURVES, crv) ? CURVES[crv] : undefined;
    if (algorithm === undefined) return { problem: 'is on a curve that is not supported' };
    return { algorithms: [algorithm], key: publicKey({ kty, crv, x: members['x'], y: members['y'] }) };
  }
  if (kty === 'OKP' && (crv === 'Ed25519' || crv === 'Ed448')) {
    return { algorithms: ['EdDSA'], key: publicKey({ kty, crv, x: members['x'] }) };
  }
  return { problem: 'has an unsupported type' };
}

function publicKey(jwk: Record<string, unknown>): KeyObject {
  return nodeCrypto().createPublicKey({ key: jwk, format: 'jwk' });
}

/** RFC 7518 §3.2: an HMAC key must have at least as many bits as the hash. */
function readSecret(k: unknown): Omit<JwsKey, 'id'> | KeyProblem {
  const bytes = typeof k === 'string' ? fromBase64Url(k) : null;
  if (bytes === null) return { problem: 'cannot be read as a key' };
  const algorithms = HMAC_ALGORITHMS.filter((name) => bytes.length * 8 >= Number(name.slice(2)));
  if (algorithms.length === 0) return { problem: 'has fewer than 256 bits' };
  return { algorithms, key: nodeCrypto().createSecretKey(bytes) };
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;

/** Decodes canonical base64url without padding (RFC 7515 §2); null for anything else. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!BASE64URL.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** Verifies the signature of the ASCII text `input`; false if the key does not allow the algorithm. */
export function jwsVerifies(
  algorithm: JwsAlgorithm,
  { key, algorithms }: JwsKey,
  input: string,
  signature: Uint8Array,
): boolean {
  if (!algorithms.includes(algorithm)) return false;
  const { constants, createHmac, timingSafeEqual, verify } = nodeCrypto();
  const hash = `sha${algorithm.slice(2)}`;
  const bytes = Buffer.from(input, 'utf8');
  try {
    switch (algorithm.slice(0, 2)) {
      case 'HS': {
        const expected = createHmac(hash, key).update(bytes).digest();
        return expected.length === signature.length && timingSafeEqual(expected, signature);
      }
      case 'RS':
        return verify(hash, bytes, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
      case 'PS': {
        // OpenSSL also accepts a signature without its leading zeros (RFC 8017 §8.1.2 does not).
        if (signature.length !== Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)) return false;
        const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
        return verify(hash, bytes, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
      }
      // RFC 7518 §3.4: both numbers concatenated, not DER.
      case 'ES':
        return verify(hash, bytes, { key, dsaEncoding: 'ieee-p1363' }, signature);
      default:
        return verify(null, bytes, key, signature);
    }
  } catch {
    return false;
  }
}
