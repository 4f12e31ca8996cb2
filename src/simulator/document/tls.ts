import type { Report } from '../../diagnostics/report.ts';
import type { CertificateName } from '../../crypto/certificate_facts.ts';
import { type ClientCertificate, tlsVersionName } from '../../engine/connection.ts';
import type { ClientFacts } from '../../engine/request_like.ts';
import type { ScenarioCode } from './codes.ts';
import { timeMs } from './durations.ts';
import type { CertificateConfig, TlsConfig } from './schema.ts';

/** RFC 5280 §4.1.2.5: the time that means no end. */
const NO_END_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A client certificate as given in a case; invalid times are reported. */
export function statedCertificate(
  config: CertificateConfig,
  pointer: string,
  report: Report<ScenarioCode>,
): ClientCertificate {
  const { serial_number: serialNumber = '', subject_cn: subjectCn = '', issuer_cn: issuer = '' } = config;
  const { dns_names = [], email_addresses = [], ip_addresses = [], uris = [] } = config;
  const timeOf = (key: 'not_before' | 'not_after', otherwise: number): number => {
    const given = config[key];
    const ms = given === undefined ? otherwise : timeMs(given);
    if (Number.isNaN(ms))
      report(
        'scenario.bad_time',
        `${pointer}/${key}`,
        `'${given}' is not a time such as 2026-01-01T00:00:00Z`,
      );
    return ms;
  };
  const texts = [
    ...dns_names.map((name) => `DNS:${name}`),
    ...email_addresses.map((name) => `email:${name}`),
    ...ip_addresses.map((name) => `IP Address:${name}`),
    ...uris.map((name) => `URI:${name}`),
  ];
  return {
    serialNumber,
    subjectCn,
    details: {
      issuer: nameOf(issuer, []),
      subject: nameOf(subjectCn, config.organization === undefined ? [] : [config.organization]),
      san: {
        text: texts.join(', '),
        dnsNames: dns_names,
        emailAddresses: email_addresses,
        ipAddresses: ip_addresses,
        uris,
      },
      extensions: [],
      signatureAlgorithm: 'ECDSA-SHA256',
      notBeforeMs: timeOf('not_before', 0),
      notAfterMs: timeOf('not_after', NO_END_MS),
      pem: '',
    },
  };
}

function nameOf(commonName: string, organization: readonly string[]): CertificateName {
  const parts = [
    ...(commonName === '' ? [] : [`CN=${commonName}`]),
    ...organization.map((each) => `O=${each}`),
  ];
  const none: readonly string[] = [];
  return {
    text: parts.join(','),
    commonName,
    country: none,
    locality: none,
    organization,
    organizationalUnit: none,
    postalCode: none,
    province: none,
    streetAddress: none,
  };
}

/** What OpenSSL negotiates in versions without the default suite, for a certificate with an RSA key. */
const OLD_CIPHERS = {
  '1.2': 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  '1.1': 'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  '1.0': 'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
};

/** The TLS facts that a request and its case give. */
export function statedTls(
  config: TlsConfig,
  pointer: string,
  stated: ClientFacts['tls'],
  report: Report<ScenarioCode>,
): Pick<ClientFacts, 'serverName' | 'tls'> {
  const { version, cipher_suite, alpn, server_name, client_certificate } = config;
  const tls = {
    ...stated,
    ...(version !== undefined && {
      version: tlsVersionName(version),
      ...(version !== '1.3' && { cipherSuite: OLD_CIPHERS[version] }),
    }),
    ...(cipher_suite !== undefined && { cipherSuite: cipher_suite }),
    ...(alpn !== undefined && { negotiatedAlpn: alpn }),
    ...(client_certificate && {
      clientCertificate: statedCertificate(client_certificate, `${pointer}/client_certificate`, report),
    }),
  };
  return server_name === undefined ? { tls } : { serverName: server_name.toLowerCase(), tls };
}
