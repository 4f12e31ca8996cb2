import type {
  AlternativeNames,
  CertificateExtension,
  CertificateName,
  ClientCertificateFacts,
} from '../../crypto/certificate_facts.ts';
import { BOOL, BYTES, STRING, TIMESTAMP, fieldsOf, list, object, stringWithFields } from '../../cel/types.ts';
import { Timestamp } from '../../cel/values.ts';

/** A timestamp from milliseconds since the epoch. */
export function timestampOfMs(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1_000);
  return new Timestamp(seconds, Math.round((milliseconds - seconds * 1_000) * 1_000_000) % 1_000_000_000);
}

const subjectField = fieldsOf<CertificateName>();

function nameType(name: string) {
  const texts = list(STRING);
  return stringWithFields(
    name,
    {
      common_name: subjectField.present(STRING, 'Common name.', (subject) => subject.commonName),
      country: subjectField.present(texts, 'Countries.', (subject) => subject.country),
      locality: subjectField.present(texts, 'Localities.', (subject) => subject.locality),
      organization: subjectField.present(texts, 'Organizations.', (subject) => subject.organization),
      organizational_unit: subjectField.present(
        texts,
        'Organizational units.',
        (subject) => subject.organizationalUnit,
      ),
      postal_code: subjectField.present(texts, 'Postal codes.', (subject) => subject.postalCode),
      province: subjectField.present(texts, 'States or provinces.', (subject) => subject.province),
      street_address: subjectField.present(texts, 'Street addresses.', (subject) => subject.streetAddress),
    },
    (subject: CertificateName) => subject.text,
  );
}

const DISTINGUISHED_NAME = nameType('DistinguishedName');

const namesField = fieldsOf<AlternativeNames>();

const ALTERNATIVE_NAMES = stringWithFields(
  'AlternativeNames',
  {
    dns_names: namesField.present(list(STRING), 'Host names.', (names) => names.dnsNames),
    email_addresses: namesField.present(list(STRING), 'E-mail addresses.', (names) => names.emailAddresses),
    ip_addresses: namesField.present(list(STRING), 'IP addresses.', (names) => names.ipAddresses),
    uris: namesField.present(list(STRING), 'URIs.', (names) => names.uris),
  },
  (names: AlternativeNames) => names.text,
);

const extensionField = fieldsOf<CertificateExtension>();

const EXTENSION = object('CertificateExtension', {
  id: extensionField.present(STRING, 'Object identifier in dots.', (extension) => extension.id),
  critical: extensionField.present(
    BOOL,
    'Whether clients that do not know it must reject the certificate.',
    (extension) => extension.critical,
  ),
  value: extensionField.present(BYTES, 'DER.', (extension) => extension.value),
});

const certificateField = fieldsOf<ClientCertificateFacts>();

const VALIDITY = object('CertificateValidity', {
  not_before: certificateField.optional(TIMESTAMP, 'Start of validity.', (certificate) =>
    timestampOrAbsent(certificate.details?.notBeforeMs),
  ),
  not_after: certificateField.optional(TIMESTAMP, 'End of validity.', (certificate) =>
    timestampOrAbsent(certificate.details?.notAfterMs),
  ),
});

/** Details are optional: a scenario may give only the serial number and common name of a certificate. */
export const CERTIFICATE = object('Certificate', {
  extensions: certificateField.optional(
    list(EXTENSION),
    'X.509 extensions.',
    (certificate) => certificate.details?.extensions,
  ),
  issuer: certificateField.optional(
    DISTINGUISHED_NAME,
    'Issuer of the certificate.',
    (certificate) => certificate.details?.issuer,
  ),
  pem: certificateField.optional(
    STRING,
    'The certificate as PEM.',
    (certificate) => certificate.details?.pem,
  ),
  san: certificateField.optional(
    ALTERNATIVE_NAMES,
    'Alternative names.',
    (certificate) => certificate.details?.san,
  ),
  serial_number: certificateField.present(
    STRING,
    'Serial number.',
    (certificate) => certificate.serialNumber,
  ),
  signature_algorithm: certificateField.optional(
    STRING,
    'Signature algorithm.',
    (certificate) => certificate.details?.signatureAlgorithm,
  ),
  subject: certificateField.present(
    DISTINGUISHED_NAME,
    'Subject of the certificate.',
    (certificate) => certificate.details?.subject ?? nameOfCommonName(certificate.subjectCn),
  ),
  validity: certificateField.present(VALIDITY, 'Validity period.', (certificate) => certificate),
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
