import { writeDay } from '../datetime/texts.ts';
import {
  type PemProblem,
  isEncryptedKey,
  isKeyOf,
  readCertificate,
  readCertificateChain,
} from '../crypto/x509.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import type { Checking } from './document/check.ts';

const PROBLEMS: Readonly<Record<PemProblem, string>> = {
  not_pem:
    'this is not PEM: it has no line that starts with -----BEGIN; `openssl x509 -inform der` converts a certificate',
  several: 'there is more than one certificate; an authority has exactly one',
  other_kind:
    'the PEM contains something other than certificates, such as a key; leave only the certificate in it',
  headers: 'the PEM has headers, which certificates must not have',
  unreadable: 'the certificate cannot be read; it seems to be damaged, so copy the whole file again',
};

/** Why a PEM text is not the certificate of an authority; null if it is. */
export function authorityProblem(pem: string): string | null {
  const facts = readCertificate(pem);
  if ('problem' in facts) return PROBLEMS[facts.problem];
  return facts.isAuthority ? null : 'this is not the certificate of an authority: CA is not true in it';
}

/** Why a PEM text is not a certificate with its chain; null if it is. */
export function chainProblem(pem: string): string | null {
  const facts = readCertificateChain(pem);
  return 'problem' in facts ? PROBLEMS[facts.problem] : null;
}

/** Why a private key does not belong to the first certificate; null if it does. */
export function keyProblem(certificatePem: string, keyPem: string): string | null {
  if (isKeyOf(certificatePem, keyPem)) return null;
  return isEncryptedKey(keyPem)
    ? 'the private key is encrypted; `openssl pkey` removes its passphrase'
    : 'this is not the private key of the certificate';
}

/** Checks the certificates that are written in the file itself. */
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

/** Warns about certificates that are not valid at this time; certificate files must have been read before. */
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
      nowMs > notAfterMs
        ? `expired on ${writeDay(notAfterMs)}`
        : `is not valid before ${writeDay(notBeforeMs)}`;
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
