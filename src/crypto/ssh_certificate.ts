import { type KeyObject, createPublicKey, sign } from 'node:crypto';
import { secretBytes } from './random.ts';
import { type SshPublicKey, readSshPrivateKey, sshKeyLine, sshPublicKey } from './ssh_keys.ts';
import { mpint, sshString, sshStrings, uint32, uint64 } from './ssh_wire.ts';

/** The contents of a certificate, apart from its keys (OpenSSH, PROTOCOL.certkeys). */
export interface SshCertificateFacts {
  readonly type: 'user' | 'host';
  /** Shown in the log of the server. */
  readonly keyId: string;
  /** User or host names; empty: all. */
  readonly principals: readonly string[];
  /** Seconds since 1970; the certificate is valid from `validAfter` to before `validBefore`. */
  readonly validAfter: number;
  readonly validBefore: number;
  readonly criticalOptions: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
}

const TYPES = { user: 1, host: 2 } as const;
const NONCE_BYTES = 32;
/** Certificates are not numbered. */
const NO_SERIAL = 0;

/**
 * Signs a certificate for a public key with the private key of an authority (PEM). Returns it in the format of
 * `authorized_keys`, without a comment.
 */
export function signSshCertificate(
  publicKey: SshPublicKey,
  authorityPem: string,
  facts: SshCertificateFacts,
): string {
  const authority = readSshPrivateKey(authorityPem);
  const format = `${publicKey.format}-cert-v01@openssh.com`;
  const content = Buffer.concat([
    sshStrings([format, secretBytes(NONCE_BYTES)]),
    publicKey.parts,
    uint64(NO_SERIAL),
    uint32(TYPES[facts.type]),
    sshString(facts.keyId),
    sshString(sshStrings(facts.principals)),
    uint64(facts.validAfter),
    uint64(facts.validBefore),
    sshString(options(facts.criticalOptions)),
    sshString(options(facts.extensions)),
    // Reserved.
    sshString(''),
    sshString(sshPublicKey(createPublicKey(authority)).blob),
  ]);
  const blob = Buffer.concat([content, sshString(signature(authority, content))]);
  return sshKeyLine({ format, blob });
}

/** Names in lexical order, each with its value as a string in a string; without a value the outer one is empty. */
function options(values: Readonly<Record<string, string>>): Buffer {
  const names = Object.keys(values).toSorted((one, other) => (one < other ? -1 : 1));
  return sshStrings(names.flatMap((name) => [name, values[name] === '' ? '' : sshString(values[name]!)]));
}

/** A signature with the name of its algorithm (RFC 8332 §3, RFC 5656 §3.1.2, RFC 8709 §6). */
function signature(key: KeyObject, content: Uint8Array): Buffer {
  const { type, format } = sshPublicKey(createPublicKey(key));
  if (type === 'ed25519') return sshStrings([format, sign(null, content, key)]);
  if (type === 'rsa') return sshStrings(['rsa-sha2-512', sign('sha512', content, key)]);
  const hash = { nistp256: 'sha256', nistp384: 'sha384' }[format.slice('ecdsa-sha2-'.length)] ?? 'sha512';
  const pair = sign(hash, content, { key, dsaEncoding: 'ieee-p1363' });
  const half = pair.length / 2;
  return sshStrings([format, Buffer.concat([mpint(pair.subarray(0, half)), mpint(pair.subarray(half))])]);
}
