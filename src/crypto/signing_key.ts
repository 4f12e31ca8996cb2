import { generateKeyPairSync, sign } from 'node:crypto';

/** A key that signs tokens with ES256 (RFC 7518 §3.4). */
export interface SigningKey {
  /** Public JWK with `kid`, for a key set. */
  readonly jwk: Readonly<Record<string, unknown>>;
  /** A token in compact form; the given header members override those of the key. */
  readonly token: (
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ) => string;
}

/** Generates a key pair for the life of the process. */
export function newSigningKey(id: string): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, use: 'sig', alg: 'ES256' };
  return {
    jwk,
    token: (claims, header = {}) => {
      const head = { alg: 'ES256', kid: id, typ: 'JWT', ...header };
      const input = `${encoded(head)}.${encoded(claims)}`;
      const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${input}.${signature.toString('base64url')}`;
    },
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
