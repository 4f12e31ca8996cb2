import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readRsaCertificate } from '../../src/crypto/x509.ts';
import { readPrivateKey, readPublicKey } from '../../src/crypto/keys.ts';
import type { KeyKind } from '../../src/crypto/keys.ts';
import { signed, verifies } from '../../src/crypto/signatures.ts';
import type { SignatureScheme } from '../../src/crypto/signatures.ts';
import { RSA_CERTIFICATE, RSA_PRIVATE_KEY, WEAK_CERTIFICATE } from '../webhooks/keys.ts';

const PAIRS = {
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed25519: generateKeyPairSync('ed25519'),
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const;

const SCHEMES: readonly SignatureScheme[] = [
  { key: 'p256', hash: 'sha256' },
  { key: 'ed25519', hash: null },
  { key: 'rsa', hash: 'sha1' },
  { key: 'rsa', hash: 'sha256' },
];

const isProblem = (key: object) => 'problem' in key;

describe.each(SCHEMES)('a signature by $key with $hash', (scheme) => {
  const { privateKey, publicKey } = PAIRS[scheme.key];
  const pem = (key: typeof privateKey) =>
    key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' });
  const base64 = (key: typeof privateKey) =>
    (key.export({ format: 'der', type: key.type === 'private' ? 'pkcs8' : 'spki' }) as Buffer).toString(
      'base64',
    );

  test('is valid for its message only', () => {
    const secret = readPrivateKey(pem(privateKey), scheme.key);
    const shown = readPublicKey(pem(publicKey), scheme.key);
    if ('problem' in secret || 'problem' in shown) throw new Error('the keys cannot be read');
    const signature = signed(scheme, secret, ['a', Buffer.from('b')]);
    expect(verifies(scheme, shown, ['ab'], signature)).toBe(true);
    expect(verifies(scheme, shown, ['ac'], signature)).toBe(false);
    expect(verifies(scheme, shown, ['ab'], signature.subarray(1))).toBe(false);
    expect(verifies(scheme, shown, ['ab'], Buffer.alloc(0))).toBe(false);
  });

  test('has keys that are parsed from PEM and base64, as their own type only', () => {
    expect(isProblem(readPublicKey(base64(publicKey), scheme.key))).toBe(false);
    expect(isProblem(readPrivateKey(base64(privateKey), scheme.key))).toBe(false);
    expect(readPublicKey(pem(privateKey), scheme.key)).toMatchObject({
      problem: expect.stringContaining('private'),
    });
    expect(isProblem(readPrivateKey(pem(publicKey), scheme.key))).toBe(true);
    for (const other of (['p256', 'ed25519', 'rsa'] as KeyKind[]).filter((kind) => kind !== scheme.key)) {
      expect(isProblem(readPublicKey(pem(publicKey), other))).toBe(true);
      expect(isProblem(readPrivateKey(pem(privateKey), other))).toBe(true);
    }
  });
});

test('an Ed25519 key may be raw bytes', () => {
  const { privateKey, publicKey } = PAIRS.ed25519;
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const secret = readPrivateKey(seed.toString('base64'), 'ed25519');
  const both = readPrivateKey(Buffer.concat([seed, raw]).toString('base64'), 'ed25519');
  const shown = readPublicKey(raw.toString('base64'), 'ed25519');
  if ('problem' in secret || 'problem' in both || 'problem' in shown)
    throw new Error('the keys cannot be read');
  const scheme = { key: 'ed25519', hash: null } as const;
  expect(verifies(scheme, shown, ['x'], signed(scheme, secret, ['x']))).toBe(true);
  expect(verifies(scheme, shown, ['x'], signed(scheme, both, ['x']))).toBe(true);
});

test('an RSA key must be long enough', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const weak = readPublicKey(publicKey.export({ format: 'pem', type: 'spki' }), 'rsa');
  expect(weak).toMatchObject({ problem: 'has 1024 bits; at least 2048 are needed' });
});

describe('a certificate', () => {
  test('is parsed with its validity and key', () => {
    const certificate = readRsaCertificate(RSA_CERTIFICATE)!;
    expect(certificate.subject).toBe('CN=sns.test.invalid');
    expect(new Date(certificate.untilMs).getUTCFullYear()).toBe(2126);
    expect(certificate.fromMs).toBeLessThan(certificate.untilMs);
    const key = readPrivateKey(RSA_PRIVATE_KEY, 'rsa');
    if ('problem' in key) throw new Error(key.problem);
    const scheme = { key: 'rsa', hash: 'sha256' } as const;
    expect(verifies(scheme, certificate.key, ['x'], signed(scheme, key, ['x']))).toBe(true);
  });

  test('is refused if it is weak or malformed', () => {
    expect(readRsaCertificate(WEAK_CERTIFICATE)).toBeNull();
    expect(readRsaCertificate(RSA_PRIVATE_KEY)).toBeNull();
    expect(readRsaCertificate('')).toBeNull();
  });
});
