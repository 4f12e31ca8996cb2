import { readRsaCertificate } from '../crypto/x509.ts';
import type { RsaCertificate } from '../crypto/x509.ts';

/**
 * Where certificates of the notification service may come from: its own hosts, over https, one file at the
 * root. No query, port or user: with them a request to the service's API could be made to answer with a
 * certificate of an attacker's.
 */
const ALLOWED_URL = /^https:\/\/sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?\/[A-Za-z0-9_-]{1,128}\.pem$/;

/** Largest certificate answer that is read. */
const CERTIFICATE_LIMIT_BYTES = 16_384;

/** How many certificates a cache keeps; there are a few in use at any time. */
export const CERTIFICATE_CACHE_SIZE = 64;

/** PEM texts by the URL they came from. */
export type Certificates = ReadonlyMap<string, string>;

/** Whether a message may name this URL as that of its certificate. */
export function isCertificateUrl(url: string): boolean {
  return ALLOWED_URL.test(url);
}

/** What a driver is asked for to get a certificate: the host is public, and nothing leads away from it. */
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

/** The certificate in a PEM text if it is usable now, or null. */
export function usableCertificate(pem: string, nowMs: number): RsaCertificate | null {
  if (pem.length > CERTIFICATE_LIMIT_BYTES) return null;
  const certificate = readRsaCertificate(pem);
  return certificate !== null && certificate.fromMs <= nowMs && nowMs <= certificate.untilMs
    ? certificate
    : null;
}

/** Adds a certificate, forgetting the oldest when there are too many: a sender chooses the URLs that are asked for. */
export function rememberCertificate(cache: Map<string, string>, url: string, pem: string): void {
  cache.delete(url);
  cache.set(url, pem);
  while (cache.size > CERTIFICATE_CACHE_SIZE) cache.delete(cache.keys().next().value!);
}
