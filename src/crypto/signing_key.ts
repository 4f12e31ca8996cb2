import type { KeyObject } from 'node:crypto';
import { nodeCrypto } from '../loading/builtins.ts';

/** A key that signs tokens (RFC 7518 §3.3, §3.4). */
export interface SigningKey {
  /** Public JWK with `kid`, for a key set. */
  readonly jwk: Readonly<Record<string, unknown>>;
  /** A token in compact form; the given header members override those of the key. */
  readonly token: (
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ) => string;
}

/** Makes a key pair that lives as long as the process; it signs with ES256. */
export function newSigningKey(id: string): SigningKey {
  return signingKey(nodeCrypto().generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, id, 'ES256');
}

/** An RSA key of a PEM text; it signs with RS256. */
export function rsaSigningKey(privateKeyPem: string, id: string): SigningKey {
  return signingKey(nodeCrypto().createPrivateKey(privateKeyPem), id, 'RS256');
}

function signingKey(key: KeyObject, id: string, alg: 'ES256' | 'RS256'): SigningKey {
  const jwk = { ...nodeCrypto().createPublicKey(key).export({ format: 'jwk' }), kid: id, use: 'sig', alg };
  const dsaEncoding = alg === 'ES256' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {};
  return {
    jwk,
    token: (claims, header = {}) => {
      const input = `${encoded({ alg, kid: id, typ: 'JWT', ...header })}.${encoded(claims)}`;
      return `${input}.${nodeCrypto()
        .sign('sha256', Buffer.from(input), { key, ...dsaEncoding })
        .toString('base64url')}`;
    },
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
