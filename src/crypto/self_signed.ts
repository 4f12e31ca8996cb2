import { type IssuedCertificate, issueCertificate } from './issue_certificate.ts';

/** A key pair with the certificate of its public key. */
export type SigningIdentity = IssuedCertificate;

const LIFE_MS = 3_650 * 86_400_000;

/**
 * Generates an RSA key with a self-signed certificate, valid for ten years from `nowMs`, for signing
 * messages.
 */
export function newSigningIdentity(commonName: string, nowMs: number): SigningIdentity {
  return issueCertificate({ commonName, key: 'rsa', notBeforeMs: nowMs, notAfterMs: nowMs + LIFE_MS });
}
