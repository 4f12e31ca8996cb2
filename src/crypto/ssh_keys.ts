import {
  type JsonWebKeyInput,
  type KeyObject,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
} from 'node:crypto';
import { fromBase64 } from './base64.ts';
import { digest } from './digest.ts';
import { RSA_MINIMUM_BITS } from './keys.ts';
import { mpint, readSshStrings, sshString, sshStrings } from './ssh_wire.ts';

type SshKeyType = 'rsa' | 'ecdsa' | 'ed25519';

export type SshCurve = 'nistp256' | 'nistp384' | 'nistp521';

/** Curves of RFC 5656 §10.1 with their names in a JWK (RFC 7518 §6.2.1.1). */
const JWK_CURVES: Readonly<Record<SshCurve, string>> = {
  nistp256: 'P-256',
  nistp384: 'P-384',
  nistp521: 'P-521',
};

export interface SshPublicKey {
  readonly type: SshKeyType;
  /** Name of the key format: `ssh-ed25519`. */
  readonly format: string;
  /** The parts of the encoded key after the name of its format. */
  readonly parts: Uint8Array;
  /** The encoded key (RFC 4253 §6.6). */
  readonly blob: Uint8Array;
}

/** Why a text is not a usable public key. */
export interface SshKeyProblem {
  /** Whether the text is well-formed, but of a format other than the three key types. */
  readonly isOtherFormat: boolean;
  /** The predicate of a sentence. */
  readonly problem: string;
}

/** OpenSSH reads no larger numbers (SSHBUF_MAX_BIGNUM in sshbuf.h). */
const RSA_MAXIMUM_BITS = 16_384;
const TEXT_LIMIT_CHARACTERS = 8_192;
/** Name of a format, and the encoded key; a comment may follow. Options before them are refused. */
const LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+[^\p{Cc}]*)?$/u;
const FORMAT = /^(?:ssh|ecdsa|sk)-[a-z0-9@.-]+$/;

/**
 * Parses a public key in the format of `authorized_keys` without options (sshd(8)). It is read strictly: exactly one
 * key, canonical base64 and numbers, a point on its curve, and RSA keys of 2048 to 16384 bits.
 */
export function readSshPublicKey(text: string): SshPublicKey | SshKeyProblem {
  if (text.length > TEXT_LIMIT_CHARACTERS) return refused('is too long');
  if (text.includes('PRIVATE KEY')) return refused('is a private key; the public key is needed');
  const [, format = '', base64 = ''] = LINE.exec(text.trim()) ?? [];
  if (!FORMAT.test(format)) return refused("does not have the form 'ssh-ed25519 AAAA… comment'");
  const blob = fromBase64(base64);
  if (blob === null) return refused('is not valid base64');
  const [name, ...parts] = readSshStrings(blob as Buffer) ?? [];
  if (name?.toString('latin1') !== format) return refused(`does not contain a key of the type ${format}`);
  const jwk = jwkOf(format, parts);
  if (jwk === null) return { isOtherFormat: true, problem: `is of the type ${format}` };
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return refused(`does not contain a valid key of the type ${format}`);
  }
  const problem = rsaProblem(key);
  if (problem !== null) return refused(problem);
  const read = sshPublicKey(key);
  // What is encoded again differs if a number has leading zeros, or if bytes follow.
  return Buffer.compare(read.blob, blob) === 0 ? read : refused('is not in canonical form');
}

function refused(problem: string): SshKeyProblem {
  return { isOtherFormat: false, problem };
}

function jwkOf(format: string, parts: readonly Buffer[]): JsonWebKeyInput['key'] | null {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = parts;
  if (format === 'ssh-ed25519') return { kty: 'OKP', crv: 'Ed25519', x: first.toString('base64url') };
  if (format === 'ssh-rsa')
    return { kty: 'RSA', e: first.toString('base64url'), n: second.toString('base64url') };
  const curve = /^ecdsa-sha2-(nistp(?:256|384|521))$/.exec(format)?.[1] as SshCurve | undefined;
  if (curve === undefined) return null;
  // An uncompressed point: 4, x, y (SEC 1, 2.3.3).
  const half = (second.length - 1) / 2;
  const [x, y] = [second.subarray(1, 1 + half), second.subarray(1 + half)].map((each) =>
    each.toString('base64url'),
  );
  return { kty: 'EC', crv: JWK_CURVES[curve], x: x!, y: y! };
}

function rsaProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | null {
  if (asymmetricKeyType !== 'rsa') return null;
  const { modulusLength: bits = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  if (bits < RSA_MINIMUM_BITS || bits > RSA_MAXIMUM_BITS)
    return `has ${bits} bits; from ${RSA_MINIMUM_BITS} to ${RSA_MAXIMUM_BITS} are allowed`;
  return publicExponent < 3n || publicExponent % 2n === 0n ? 'has an invalid public exponent' : null;
}

/** The public part of a key. */
export function sshPublicKey(key: KeyObject): SshPublicKey {
  const { kty, crv, x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  if (kty === 'OKP') return encoded('ed25519', 'ssh-ed25519', sshString(bytes(x)));
  if (kty === 'RSA') return encoded('rsa', 'ssh-rsa', Buffer.concat([mpint(bytes(e)), mpint(bytes(n))]));
  const curve = Object.entries(JWK_CURVES).find(([, name]) => name === crv)![0];
  const point = Buffer.concat([Buffer.of(4), bytes(x), bytes(y)]);
  return encoded('ecdsa', `ecdsa-sha2-${curve}`, sshStrings([curve, point]));
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function encoded(type: SshKeyType, format: string, parts: Uint8Array): SshPublicKey {
  return { type, format, parts, blob: Buffer.concat([sshString(format), parts]) };
}

/** A key as a line of `authorized_keys` without a comment. */
export function sshKeyLine({ format, blob }: Pick<SshPublicKey, 'format' | 'blob'>): string {
  return `${format} ${Buffer.from(blob).toString('base64')}`;
}

/** The fingerprint that OpenSSH prints: `SHA256:` and base64 without padding. */
export function sshKeyFingerprint({ blob }: SshPublicKey): string {
  return `SHA256:${digest('sha256', [blob], 'base64').replaceAll('=', '')}`;
}

/** Kind of a new key. */
export type SshKeyParameters =
  | { readonly type: 'rsa'; readonly bits: number }
  | { readonly type: 'ecdsa'; readonly curve: SshCurve }
  | { readonly type: 'ed25519' };

/** Generates a key pair outside of the event loop; the private key is PKCS#8 in PEM. */
export async function newSshKey(
  parameters: SshKeyParameters,
): Promise<{ readonly privateKeyPem: string; readonly publicKey: string }> {
  const privateKey = await new Promise<KeyObject>((resolve, reject) => {
    const done = (error: Error | null, _public: KeyObject, key: KeyObject): void =>
      error === null ? resolve(key) : reject(error);
    const { type } = parameters;
    if (type === 'rsa') generateKeyPair('rsa', { modulusLength: parameters.bits }, done);
    else if (type === 'ecdsa') generateKeyPair('ec', { namedCurve: JWK_CURVES[parameters.curve] }, done);
    else generateKeyPair('ed25519', {}, done);
  });
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicKey: sshKeyLine(sshPublicKey(createPublicKey(privateKey))),
  };
}

/** The private key of a PEM text that `newSshKey` has made. */
export function readSshPrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}
