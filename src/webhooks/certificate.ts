import { type RsaCertificate, readRsaCertificate } from '../crypto/x509.ts';

/**
 * Allowed URLs of SNS certificates: https, the service's own hosts, one file at the root. A query, port or
 * user could turn the URL into an API request whose response contains an attacker's certificate, and other
 * labels than regions are hosts of other services: `sns.s3-us-west-2` is a storage bucket of this name.
 */
const ALLOWED_URL =
  /^https:\/\/sns\.[a-z]{2}(?:-[a-z]{1,16}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?\/[A-Za-z0-9_-]{1,128}\.pem$/;

/** Maximum size of a fetched certificate. */
const CERTIFICATE_LIMIT_BYTES = 16_384;

/** Size of the cache; only a few certificates are in use at any time. */
export const CERTIFICATE_CACHE_SIZE = 64;

/** PEM texts by URL. */
export type Certificates = ReadonlyMap<string, string>;

/** Whether a message may refer to this certificate URL. */
export function isCertificateUrl(url: string): boolean {
  return ALLOWED_URL.test(url);
}

/** The control request for a certificate: to a public host, without redirects. */
export function certificateRequest(url: string) {
  return {
    method: 'GET',
    url,
    headers: [],
    body: null,
    timeoutMs: 5_000,
    limitBytes: CERTIFICATE_LIMIT_BYTES,
    maxRedirects: 0,
    allowPrivate: false,
  };
}

/** The certificate in a PEM text if it is currently valid; otherwise null. */
export function usableCertificate(pem: string, nowMs: number): RsaCertificate | null {
  if (pem.length > CERTIFICATE_LIMIT_BYTES) return null;
  const certificate = readRsaCertificate(pem);
  return certificate !== null && certificate.fromMs <= nowMs && nowMs <= certificate.untilMs
    ? certificate
    : null;
}

/** Adds a certificate and evicts the oldest beyond the limit, because senders choose the URLs. */
export function rememberCertificate(cache: Map<string, string>, url: string, pem: string): void {
  cache.delete(url);
  cache.set(url, pem);
  while (cache.size > CERTIFICATE_CACHE_SIZE) cache.delete(cache.keys().next().value!);
}

/** The certificate in the answer to a fetch; null if there is none. */
export function pemOf(
  answer: { readonly status: number; readonly body: Uint8Array } | { readonly failure: unknown },
): string | null {
  if ('failure' in answer || answer.status !== 200) return null;
  return Buffer.from(answer.body).toString('latin1');
}
