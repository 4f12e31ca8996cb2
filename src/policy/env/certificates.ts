import type {
  AlternativeNames,
  CertificateExtension,
  CertificateName,
  ClientCertificateFacts,
} from '../../crypto/certificate_facts.ts';
import { BOOL, BYTES, STRING, TIMESTAMP, list, object, stringWithFields } from '../../cel/types.ts';
import { Timestamp } from '../../cel/values.ts';

/** A timestamp from milliseconds since the epoch. */
export function timestampOfMs(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1_000);
  return new Timestamp(seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000) % 1_000_000_000);
}

function nameType(name: string) {
  const texts = list(STRING);
  return stringWithFields(
    name,
    {
      common_name: {
        type: STRING,
        doc: 'Common name.',
        read: (subject: CertificateName) => subject.commonName,
      },
      country: { type: texts, doc: 'Countries.', read: (subject: CertificateName) => subject.country },
      locality: { type: texts, doc: 'Localities.', read: (subject: CertificateName) => subject.locality },
      organization: {
        type: texts,
        doc: 'Organizations.',
        read: (subject: CertificateName) => subject.organization,
      },
      organizational_unit: {
        type: texts,
        doc: 'Organizational units.',
        read: (subject: CertificateName) => subject.organizationalUnit,
      },
      postal_code: {
        type: texts,
        doc: 'Postal codes.',
        read: (subject: CertificateName) => subject.postalCode,
      },
      province: {
        type: texts,
        doc: 'States or provinces.',
        read: (subject: CertificateName) => subject.province,
      },
      street_address: {
        type: texts,
        doc: 'Street addresses.',
        read: (subject: CertificateName) => subject.streetAddress,
      },
    },
    (subject: CertificateName) => subject.text,
  );
}

const DISTINGUISHED_NAME = nameType('DistinguishedName');

const ALTERNATIVE_NAMES = stringWithFields(
  'AlternativeNames',
  {
    dns_names: {
      type: list(STRING),
      doc: 'Host names.',
      read: (names: AlternativeNames) => names.dnsNames,
    },
    email_addresses: {
      type: list(STRING),
      doc: 'E-mail addresses.',
      read: (names: AlternativeNames) => names.emailAddresses,
    },
    ip_addresses: {
      type: list(STRING),
      doc: 'IP addresses.',
      read: (names: AlternativeNames) => names.ipAddresses,
    },
    uris: { type: list(STRING), doc: 'URIs.', read: (names: AlternativeNames) => names.uris },
  },
  (names: AlternativeNames) => names.text,
);

const EXTENSION = object('CertificateExtension', {
  id: {
    type: STRING,
    doc: 'Object identifier in dots.',
    read: (extension: CertificateExtension) => extension.id,
  },
  critical: {
    type: BOOL,
    doc: 'Whether clients that do not know it must reject the certificate.',
    read: (extension: CertificateExtension) => extension.critical,
  },
  value: { type: BYTES, doc: 'DER.', read: (extension: CertificateExtension) => extension.value },
});

const VALIDITY = object('CertificateValidity', {
  not_before: {
    type: TIMESTAMP,
    optional: true,
    doc: 'Start of validity.',
    read: (certificate: ClientCertificateFacts) => timestampOrAbsent(certificate.details?.notBeforeMs),
  },
  not_after: {
    type: TIMESTAMP,
    optional: true,
    doc: 'End of validity.',
    read: (certificate: ClientCertificateFacts) => timestampOrAbsent(certificate.details?.notAfterMs),
  },
});

/** Details are optional: a scenario may give only the serial number and common name of a certificate. */
export const CERTIFICATE = object('Certificate', {
  extensions: {
    type: list(EXTENSION),
    optional: true,
    doc: 'X.509 extensions.',
    read: (certificate: ClientCertificateFacts) => certificate.details?.extensions,
  },
  issuer: {
    type: DISTINGUISHED_NAME,
    optional: true,
    doc: 'Issuer of the certificate.',
    read: (certificate: ClientCertificateFacts) => certificate.details?.issuer,
  },
  pem: {
    type: STRING,
    optional: true,
    doc: 'The certificate as PEM.',
    read: (certificate: ClientCertificateFacts) => certificate.details?.pem,
  },
  san: {
    type: ALTERNATIVE_NAMES,
    optional: true,
    doc: 'Alternative names.',
    read: (certificate: ClientCertificateFacts) => certificate.details?.san,
  },
  serial_number: {
    type: STRING,
    doc: 'Serial number.',
    read: (certificate: ClientCertificateFacts) => certificate.serialNumber,
  },
  signature_algorithm: {
    type: STRING,
    optional: true,
    doc: 'Signature algorithm.',
    read: (certificate: ClientCertificateFacts) => certificate.details?.signatureAlgorithm,
  },
  subject: {
    type: DISTINGUISHED_NAME,
    doc: 'Subject of the certificate.',
    read: (certificate: ClientCertificateFacts) =>
      certificate.details?.subject ?? nameOfCommonName(certificate.subjectCn),
  },
  validity: {
    type: VALIDITY,
    doc: 'Validity period.',
    read: (certificate: ClientCertificateFacts) => certificate,
  },
});

function timestampOrAbsent(milliseconds: number | undefined): Timestamp | undefined {
  return milliseconds === undefined ? undefined : timestampOfMs(milliseconds);
}

function nameOfCommonName(commonName: string): CertificateName {
  const none: readonly string[] = [];
  return {
    text: commonName === '' ? '' : `CN=${commonName}`,
    commonName,
    country: none,
    locality: none,
    organization: none,
    organizationalUnit: none,
    postalCode: none,
    province: none,
    streetAddress: none,
  };
}
