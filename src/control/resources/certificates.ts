import * as z from 'zod';
import {
  type CertificateFacts,
  type PemProblem,
  isEncryptedKey,
  isKeyOf,
  readCertificate,
  readCertificateChain,
} from '../../crypto/x509.ts';
import type { Body, Completed, Draft } from './contract.ts';
import { derive, field, notes, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';

const text = (describes: string) => z.string().describe(describes);
const texts = (describes: string) => z.array(z.string()).describe(describes);

const PEM_LIMIT_CHARACTERS = 32_768;

const PROBLEMS: Readonly<Record<PemProblem, { readonly number: number; readonly message: string }>> = {
  not_pem: { number: 1920, message: 'The value is not PEM.' },
  several: { number: 1912, message: 'The value has more than one certificate.' },
  other_kind: { number: 1911, message: 'The PEM block has a type other than CERTIFICATE.' },
  headers: { number: 1910, message: 'The PEM block has headers.' },
  unreadable: { number: 1900, message: 'The certificate cannot be read.' },
};

/** The fields that both kinds of certificate get from their PEM. */
function commonFacts(facts: CertificateFacts): Body {
  return {
    subject_common_name: facts.subject.CN,
    not_before: seconds(facts.notBeforeMs),
    not_after: seconds(facts.notAfterMs),
    key_usages: facts.keyUsages,
    extended_key_usages: facts.extendedKeyUsages,
  };
}

/** Milliseconds since the epoch as RFC 3339, whole seconds. */
export function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const commonFields = {
  subject_common_name: derive(text('Common name of the subject.')),
  not_before: derive(text('Start of validity, RFC 3339.')),
  not_after: derive(text('End of validity, RFC 3339.')),
  key_usages: derive(texts('Key usages.')),
  extended_key_usages: derive(texts('Extended key usages.')),
};

function completeAuthority({ body, before }: Draft): Completed {
  if (before !== null) return { body };
  const pem = body['ca_pem'] as string;
  if (pem.length > PEM_LIMIT_CHARACTERS) throw refusedValue(1921, '/ca_pem', 'The value is too large.');
  const facts = readCertificate(pem);
  if ('problem' in facts) {
    const { number, message } = PROBLEMS[facts.problem];
    throw refusedValue(number, '/ca_pem', message);
  }
  if (!facts.isAuthority) {
    throw refusedValue(1913, '/ca_pem', 'The basic constraint CA of the certificate is not true.');
  }
  return { body: { ...body, ...commonFacts(facts) } };
}

export const certificateAuthorities = resource({
  kind: 'certificate_authority',
  title: 'certificate authority',
  path: '/certificate_authorities',
  prefix: 'ca',
  listKey: 'certificate_authorities',
  fields: {
    ...notes(1914, 1916),
    ca_pem: field(text('PEM of exactly one certificate.'), {
      create: 'required',
      update: 'refused',
      codes: { missing: 1919, bad: 1920 },
    }),
    ...commonFields,
  },
  drivesEdge: true,
  complete: completeAuthority,
});

function completeCertificate({ body, before, now }: Draft): Completed {
  return { body: before === null ? withFacts(body, now) : body };
}

/** A TLS certificate with what its PEM says; throws ApiProblem. */
export function withFacts(body: Body, now: string): Body {
  const { private_key_pem: key } = body;
  const pem = body['certificate_pem'] as string;
  const facts = readCertificateChain(pem);
  if ('problem' in facts) {
    throw refusedValue(COMMON.badValue, '/certificate_pem', PROBLEMS[facts.problem].message);
  }
  if (!isKeyOf(pem, key as string)) {
    const message = isEncryptedKey(key as string)
      ? 'The private key is encrypted; send it without a passphrase.'
      : 'The private key does not match the first certificate.';
    throw refusedValue(COMMON.badValue, '/private_key_pem', message);
  }
  const { subject } = facts;
  return {
    ...body,
    ...commonFacts(facts),
    issued_at: now,
    subject_alternative_names: { dns_names: facts.dnsNames, ips: facts.ips },
    private_key_type: facts.keyType,
    issuer_common_name: facts.issuerCommonName,
    serial_number: facts.serialNumber,
    subject_organization: subject.O,
    subject_organizational_unit: subject.OU,
    subject_locality: subject.L,
    subject_province: subject.ST,
    subject_country: subject.C,
  };
}

export const tlsCertificates = resource({
  kind: 'tls_certificate',
  title: 'TLS certificate',
  path: '/tls_certificates',
  prefix: 'cert',
  listKey: 'tls_certificates',
  fields: {
    ...notes(),
    certificate_pem: field(text('PEM of the certificate, followed by its chain.'), {
      create: 'required',
      update: 'refused',
    }),
    private_key_pem: {
      ...field(text('PEM of its private key; never returned.'), {
        create: 'required',
        update: 'refused',
        read: 'never',
      }),
      secrets: [''],
    },
    ...commonFields,
    subject_alternative_names: derive(
      z.strictObject({ dns_names: z.array(z.string()), ips: z.array(z.string()) }).describe('Other names.'),
    ),
    issued_at: derive(text('When the service issued it; for an upload, when it was uploaded.')),
    private_key_type: derive(text('Key type.')),
    issuer_common_name: derive(text('Common name of the issuer.')),
    serial_number: derive(text('Serial number, hexadecimal.')),
    subject_organization: derive(text('Organization of the subject.')),
    subject_organizational_unit: derive(text('Organizational unit of the subject.')),
    subject_locality: derive(text('Locality of the subject.')),
    subject_province: derive(text('Province of the subject.')),
    subject_country: derive(text('Country of the subject.')),
  },
  drivesEdge: true,
  complete: completeCertificate,
});
