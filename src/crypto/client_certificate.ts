import type { AlternativeNames, CertificateName, ClientCertificateFacts } from './certificate_facts.ts';
import { type NameAttribute, alternativeNames, certificateParts } from './certificate_parts.ts';
import { digest } from './digest.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** An identifier for a list of authorities. */
export function trustOf(authorityPems: readonly string[]): string {
  return digest('sha256', [JSON.stringify(authorityPems)], 'hex');
}

/** Reads a certificate verified by OpenSSL; throws if it is malformed. */
export function clientCertificateOf(raw: Uint8Array): Required<ClientCertificateFacts> {
  const certificate = new (nodeCrypto().X509Certificate)(raw);
  const parts = certificateParts(certificate.raw);
  if (parts === null) throw new TypeError('the certificate is malformed');
  const name = nameOf(parts.subject);
  return {
    serialNumber: certificate.serialNumber.toLowerCase(),
    subjectCn: name.commonName,
    details: {
      issuer: nameOf(parts.issuer),
      subject: name,
      san: namesIn(certificate.subjectAltName ?? ''),
      extensions: parts.extensions ?? [],
      signatureAlgorithm: ALGORITHMS[parts.signatureAlgorithm] ?? parts.signatureAlgorithm,
      notBeforeMs: certificate.validFromDate.getTime(),
      notAfterMs: certificate.validToDate.getTime(),
      pem: certificate.toString(),
    },
  };
}

function nameOf(attributes: readonly NameAttribute[]): CertificateName {
  const all = (attribute: string): readonly string[] =>
    attributes.flatMap(([type, value]) => (type === attribute ? [value] : []));
  // RFC 4514 §2.1: the last part of the name comes first.
  const parts = attributes.map(([type, value]) => `${type}=${escaped(value)}`);
  return {
    text: parts.toReversed().join(','),
    commonName: all('CN')[0] ?? '',
    country: all('C'),
    locality: all('L'),
    organization: all('O'),
    organizationalUnit: all('OU'),
    postalCode: all('postalCode'),
    province: all('ST'),
    streetAddress: all('street'),
  };
}

/** RFC 4514 §2.4. */
function escaped(value: string): string {
  return value.replaceAll(/["+,;<>\\]|^[ #]| $/g, String.raw`\$&`);
}

function namesIn(text: string): AlternativeNames {
  const names = alternativeNames(text);
  const of = (type: string) => names.flatMap(([each, value]) => (each === type ? [value] : []));
  return {
    text,
    dnsNames: of('DNS'),
    emailAddresses: of('email'),
    ipAddresses: of('IP Address'),
    uris: of('URI'),
  };
}

// table: signature algorithms by their identifiers
const ALGORITHMS: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.2.840.113549.1.1.10': 'RSA-PSS',
  '1.2.840.113549.1.1.11': 'SHA256-RSA',
  '1.2.840.113549.1.1.12': 'SHA384-RSA',
  '1.2.840.113549.1.1.13': 'SHA512-RSA',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
  '1.2.840.10045.4.3.2': 'ECDSA-SHA256',
  '1.2.840.10045.4.3.3': 'ECDSA-SHA384',
  '1.2.840.10045.4.3.4': 'ECDSA-SHA512',
  '1.3.101.112': 'Ed25519',
};
