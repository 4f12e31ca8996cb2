import * as z from 'zod';
import { type SshCurve, type SshKeyParameters, newSshKey } from '../../crypto/ssh_keys.ts';
import type { Body } from './contract.ts';
import { derive, field, notes, resource } from './fields.ts';
import { refusedValue } from './problem.ts';

const atCreation = { update: 'refused', read: 'never', emptyIsUnset: [''] } as const;

const KEY_TYPES = ['rsa', 'ecdsa', 'ed25519'];
const RSA_BITS = [2048, 4096];
const CURVES = ['p256', 'p384', 'p521'];

/** The kind of key that a request asks for; 0 is the default size, because some clients always send it. */
function parametersOf(given: Body): SshKeyParameters {
  const type = (given['private_key_type'] ?? 'ed25519') as string;
  const curve = (given['elliptic_curve'] ?? '') as string;
  const bits = (given['key_size'] ?? 0) as number;
  if (!KEY_TYPES.includes(type))
    throw refusedValue(1936, '/private_key_type', notOneOf('private_key_type', type, KEY_TYPES));
  if (bits !== 0 && type !== 'rsa')
    throw refusedValue(1940, '/key_size', `The field 'key_size' is for keys of the type rsa, not ${type}.`);
  if (curve !== '' && type !== 'ecdsa')
    throw refusedValue(
      1942,
      '/elliptic_curve',
      `The field 'elliptic_curve' is for keys of the type ecdsa, not ${type}.`,
    );
  if (type === 'ed25519') return { type };
  if (type === 'rsa') {
    if (bits !== 0 && !RSA_BITS.includes(bits))
      throw refusedValue(1939, '/key_size', notOneOf('key_size', bits, RSA_BITS));
    return { type, bits: bits || RSA_BITS[0]! };
  }
  // Also 'P-256' and 'nistp256'.
  const name = curve.toLowerCase().replace(/^nist/, '').replace('-', '') || CURVES[0]!;
  if (!CURVES.includes(name))
    throw refusedValue(1941, '/elliptic_curve', notOneOf('elliptic_curve', curve, CURVES));
  return { type: 'ecdsa', curve: `nist${name}` as SshCurve };
}

function notOneOf(name: string, value: unknown, known: readonly unknown[]): string {
  return `The field '${name}' has to be one of ${known.join(', ')}, not '${String(value).slice(0, 80)}'.`;
}

let lastKey: Promise<unknown> = Promise.resolve();

/** Generates the key pair. One at a time: a large key occupies one of the few threads of the process for seconds. */
async function withKey({ private_key_type, elliptic_curve, key_size, ...given }: Body): Promise<Body> {
  const parameters = parametersOf({ private_key_type, elliptic_curve, key_size });
  const made = lastKey.then(() => newSshKey(parameters));
  lastKey = made.catch(() => undefined);
  const { privateKeyPem, publicKey } = await made;
  return { ...given, key_type: parameters.type, public_key: publicKey, private_key_pem: privateKeyPem };
}

export const sshCertificateAuthorities = resource({
  kind: 'ssh_certificate_authority',
  title: 'SSH certificate authority',
  path: '/ssh_certificate_authorities',
  prefix: 'sshca',
  listKey: 'ssh_certificate_authorities',
  fields: {
    ...notes(1937, 1938),
    private_key_type: field(z.string().describe('Type of the key: rsa, ecdsa or ed25519 (default).'), {
      ...atCreation,
      codes: { bad: 1936 },
    }),
    elliptic_curve: field(z.string().describe('Curve of an ecdsa key: p256 (default), p384 or p521.'), {
      ...atCreation,
      codes: { bad: 1941 },
    }),
    key_size: field(z.int().describe('Bits of an rsa key: 2048 (default) or 4096.'), {
      ...atCreation,
      codes: { bad: 1939 },
    }),
    public_key: derive(z.string().describe('Public key, as in authorized_keys.')),
    key_type: derive(z.enum(['rsa', 'ecdsa', 'ed25519']).describe('Type of the key.')),
    private_key_pem: { secrets: [''] },
  },
  codes: { notFound: 1949, inUse: 1964 },
  prepare: withKey,
});
