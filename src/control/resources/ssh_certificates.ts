import * as z from 'zod';
import { signSshCertificate } from '../../crypto/ssh_certificate.ts';
import { type SshPublicKey, readSshPublicKey } from '../../crypto/ssh_keys.ts';
import { readTimestamp } from '../../datetime/texts.ts';
import type { Body, Completed, Draft, Field, Resource } from './contract.ts';
import { seconds } from './certificates.ts';
import { derive, field, notes, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';
import { criticalOptionProblem, extensionProblem, principalProblem } from './ssh_options.ts';
import { counted } from '../../diagnostics/message_text.ts';

const DAY_SECONDS = 86_400;
const MISSING_AUTHORITY = 1951;

const text = (describes: string) => z.string().describe(describes);
const texts = (describes: string) => z.record(z.string(), z.string()).describe(describes);
const atCreation = { update: 'refused', emptyIsUnset: [''] } as const;

/** The id of the authority; responses show the id, too. */
const authorityId: Field = {
  ...field(z.string().min(1).describe('The SSH certificate authority that signs the certificate.'), {
    create: 'required',
    update: 'refused',
    codes: { missing: MISSING_AUTHORITY, bad: MISSING_AUTHORITY },
  }),
  refers: (id: string) => [
    {
      id,
      pointer: '',
      kinds: ['ssh_certificate_authority'],
      missing: MISSING_AUTHORITY,
      wrong: COMMON.wrongPrefix,
    },
  ],
};

/** Differences between the two kinds of certificates. */
interface Kind {
  readonly type: 'user' | 'host';
  readonly prefix: string;
  readonly principals: string;
  /** Validity if `valid_until` is omitted. */
  readonly lifeSeconds: number;
  readonly codes: { readonly description: number; readonly metadata: number; readonly duration: number };
  readonly options: Readonly<Record<string, Field>>;
}

function certificates(kind: Kind): Resource {
  const { type, prefix, codes } = kind;
  return resource({
    kind: `ssh_${type}_certificate`,
    title: `SSH ${type} certificate`,
    path: `/ssh_${type}_certificates`,
    prefix,
    listKey: `ssh_${type}_certificates`,
    fields: {
      ...notes(codes.description, codes.metadata),
      ssh_certificate_authority_id: authorityId,
      public_key: field(text('Public key to certify, as in authorized_keys.'), {
        create: 'required',
        update: 'refused',
        codes: { missing: 1952, bad: 1934 },
      }),
      principals: field(z.array(z.string()).describe(kind.principals), { ...atCreation, standard: [] }),
      ...kind.options,
      valid_after: field(text('Start of validity, RFC 3339; default: now.'), {
        ...atCreation,
        codes: { bad: 241 },
      }),
      valid_until: field(
        text(
          `End of validity, RFC 3339; default: ${counted(kind.lifeSeconds / DAY_SECONDS, 'day')} after the start.`,
        ),
        { ...atCreation, codes: { bad: 241 } },
      ),
      key_type: derive(z.enum(['rsa', 'ecdsa', 'ed25519']).describe('Type of the public key.')),
      certificate: derive(text('The signed certificate, as in authorized_keys.')),
    },
    complete: (draft) => completeCertificate(kind, draft),
  });
}

async function completeCertificate(kind: Kind, draft: Draft): Promise<Completed> {
  const { id, body, before, lookup, now } = draft;
  if (before !== null) return { body };
  const publicKey = publicKeyOf(body['public_key'] as string);
  const principals = body['principals'] as readonly string[];
  refuse('/principals', principalProblem(principals));
  const criticalOptions = (body['critical_options'] ?? {}) as Readonly<Record<string, string>>;
  const extensions = (body['extensions'] ?? {}) as Readonly<Record<string, string>>;
  refuse('/critical_options', criticalOptionProblem(criticalOptions));
  refuse('/extensions', extensionProblem(extensions));
  const validAfter = secondsOf(body, 'valid_after') ?? secondsOf({ now }, 'now')!;
  const validBefore = secondsOf(body, 'valid_until') ?? validAfter + kind.lifeSeconds;
  if (validBefore <= validAfter) {
    const message = `The end of validity must be after its start; the duration is ${counted(validBefore - validAfter, 'second')}.`;
    throw refusedValue(kind.codes.duration, '/valid_until', message);
  }
  const whole = {
    ...body,
    public_key: (body['public_key'] as string).trim(),
    key_type: publicKey.type,
    valid_after: seconds(validAfter * 1000),
    valid_until: seconds(validBefore * 1000),
  };
  const authority = await lookup.get(body['ssh_certificate_authority_id'] as string);
  const privateKey = authority?.body['private_key_pem'];
  // A wrong id is refused when references are checked.
  if (typeof privateKey !== 'string' || authority?.kind !== 'ssh_certificate_authority')
    return { body: whole };
  const facts = {
    type: kind.type,
    keyId: id,
    principals,
    validAfter,
    validBefore,
    criticalOptions,
    extensions,
  };
  return { body: { ...whole, certificate: `${signSshCertificate(publicKey, privateKey, facts)} ${id}` } };
}

function publicKeyOf(given: string): SshPublicKey {
  if (given.trim() === '') throw refusedValue(1952, '/public_key', "The field 'public_key' is empty.");
  const key = readSshPublicKey(given);
  if (!('problem' in key)) return key;
  const message = `The public key ${key.problem}.`;
  if (!key.isOtherFormat) throw refusedValue(1934, '/public_key', message);
  throw refusedValue(1950, '/public_key', `${message.slice(0, -1)}, for which there are no certificates.`);
}

function refuse(at: string, problem: { readonly pointer: string; readonly message: string } | null): void {
  if (problem !== null) throw refusedValue(COMMON.badValue, at + problem.pointer, problem.message);
}

/** Seconds since 1970 of a field; undefined if it is omitted. */
function secondsOf(body: Body, name: string): number | undefined {
  const given = body[name] as string | undefined;
  if (given === undefined) return undefined;
  const time = readTimestamp(given);
  if (typeof time === 'string') {
    const message = `The field '${name}' has to be a time such as 2026-01-31T08:30:00Z.`;
    throw refusedValue(241, `/${name}`, message);
  }
  if (time.seconds < 0) throw refusedValue(241, `/${name}`, `The field '${name}' must not be before 1970.`);
  return time.seconds;
}

export const sshHostCertificates = certificates({
  type: 'host',
  prefix: 'shcrt',
  principals: 'Host names and addresses that the certificate is for; empty: all hosts.',
  lifeSeconds: 365 * DAY_SECONDS,
  codes: { description: 1945, metadata: 1946, duration: 1963 },
  options: {},
});

export const sshUserCertificates = certificates({
  type: 'user',
  prefix: 'sucrt',
  principals: 'Users that the holder may log in as; empty: all users.',
  lifeSeconds: DAY_SECONDS,
  codes: { description: 1947, metadata: 1948, duration: 1962 },
  options: {
    critical_options: field(texts('Critical options: force-command and source-address.'), {
      ...atCreation,
      standard: {},
    }),
    extensions: field(texts('Extensions; default: permit-pty and permit-user-rc.'), {
      ...atCreation,
      standard: { 'permit-pty': '', 'permit-user-rc': '' },
    }),
  },
});
