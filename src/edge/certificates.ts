import { writeDay } from '../datetime/texts.ts';
import { type PemProblem, isKeyOf, readCertificate, readCertificateChain } from '../crypto/x509.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import type { Checking } from './document/check.ts';

const PROBLEMS: Readonly<Record<PemProblem, string>> = {
  not_pem: 'this is not PEM: it has no line that begins with -----BEGIN',
  several: 'there is more than one certificate; an authority is one',
  other_kind: 'the PEM holds something else than certificates',
  headers: 'the PEM has headers, which certificates do not have',
  unreadable: 'the certificate cannot be read',
};

/** Why a PEM text is not the certificate of an authority, or null. */
export function authorityProblem(pem: string): string | null {
  const facts = readCertificate(pem);
  if ('problem' in facts) return PROBLEMS[facts.problem];
  return facts.isAuthority ? null : 'this certificate is not that of an authority: CA is not true in it';
}

/** Why a PEM text is not a certificate with its chain, or null. */
export function chainProblem(pem: string): string | null {
  const facts = readCertificateChain(pem);
  return 'problem' in facts ? PROBLEMS[facts.problem] : null;
}

/** Why a private key does not fit the first certificate, or null. */
export function keyProblem(certificatePem: string, keyPem: string): string | null {
  return isKeyOf(certificatePem, keyPem) ? null : 'this is not the private key of the certificate';
}

/** Reads the certificates that stand in the file itself. */
export function checkCertificates({ config, report }: Checking): readonly Diagnostic[] {
  for (const [name, authority] of Object.entries(config.certificate_authorities ?? {})) {
    const pem = authority?.ca_pem;
    const message = pem === undefined ? null : authorityProblem(pem);
    const at = pointerTo('/certificate_authorities', name);
    if (message !== null) report('edge.bad_certificate', `${at}/ca_pem`, message, { at: 'key' });
  }
  for (const [name, certificate] of Object.entries(config.tls_certificates ?? {})) {
    const { certificate_pem: pem, private_key_pem: key } = certificate ?? {};
    const at = pointerTo('/tls_certificates', name);
    if (pem === undefined) continue;
    const message = chainProblem(pem);
    if (message !== null) report('edge.bad_certificate', `${at}/certificate_pem`, message, { at: 'key' });
    if (message !== null || key === undefined) continue;
    const keySays = keyProblem(pem, key);
    if (keySays !== null) report('edge.bad_certificate', `${at}/private_key_pem`, keySays, { at: 'key' });
  }
  return [];
}

/** Warns of certificates that do not count at this time; for files, after their texts were read. */
export function checkCertificateTimes({ config, report }: Checking, nowMs: number): readonly Diagnostic[] {
  const check = (
    pem: string | undefined,
    fileKey: string,
    textKey: string,
    thing: object,
    at: string,
  ): void => {
    const facts = pem === undefined ? { problem: 'not_pem' } : readCertificateChain(pem);
    if ('problem' in facts) return;
    const { notBeforeMs, notAfterMs } = facts;
    if (nowMs >= notBeforeMs && nowMs <= notAfterMs) return;
    const message =
      nowMs > notAfterMs ? `has ended on ${writeDay(notAfterMs)}` : `begins on ${writeDay(notBeforeMs)} only`;
    report(
      'edge.certificate_expired',
      `${at}/${fileKey in thing ? fileKey : textKey}`,
      `the certificate ${message}`,
    );
  };
  for (const [name, thing] of Object.entries(config.tls_certificates ?? {})) {
    if (thing === undefined) continue;
    const at = pointerTo('/tls_certificates', name);
    check(thing.certificate_pem, 'certificate_file', 'certificate_pem', thing, at);
  }
  for (const [name, thing] of Object.entries(config.certificate_authorities ?? {})) {
    if (thing === undefined) continue;
    check(thing.ca_pem, 'ca_file', 'ca_pem', thing, pointerTo('/certificate_authorities', name));
  }
  return [];
}
