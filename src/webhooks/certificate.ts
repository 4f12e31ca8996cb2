import { RSA_MINIMUM_BITS } from '../crypto/keys.ts';
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

/** Certificates that are fetched at once: anyone can send a message with a URL of this form. */
const FETCHES_LIMIT = 8;

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
    share: `certificate ${url}`,
    atMost: { of: 'certificates', count: FETCHES_LIMIT },
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

/** Whether a presented signature can be one of a certificate: bytes of at least the shortest key that is accepted. */
export function hasCertificateSignature(bytes: Uint8Array | null): bytes is Uint8Array {
  return bytes !== null && bytes.length * 8 >= RSA_MINIMUM_BITS;
}

/** A certificate that was fetched for a message, and whether it verified that message. */
export interface FetchedCertificate {
  readonly url: string;
  readonly pem: string;
  readonly verified: boolean;
}

/**
 * Adds a usable certificate. One that verified a message evicts the oldest beyond the limit; another one, for a URL that
 * anyone may have sent, only takes free room.
 */
export function rememberCertificate(
  cache: Map<string, string>,
  { url, pem, verified }: FetchedCertificate,
  nowMs: number,
): void {
  if (!verified && (cache.size >= CERTIFICATE_CACHE_SIZE || usableCertificate(pem, nowMs) === null)) return;
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
