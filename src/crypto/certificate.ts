import { X509Certificate } from 'node:crypto';
import type { PublicKey } from './keys.ts';
import { RSA_MINIMUM_BITS } from './keys.ts';

/** What is read of a certificate: enough to use its key and to know when. */
export interface Certificate {
  readonly subject: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly key: PublicKey;
}

/** Reads the first certificate of a PEM text whose key is RSA and long enough; null for anything else. */
export function readRsaCertificate(pem: string): Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    const key = certificate.publicKey;
    if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_MINIMUM_BITS)
      return null;
    return {
      subject: certificate.subject,
      fromMs: certificate.validFromDate.getTime(),
      untilMs: certificate.validToDate.getTime(),
      key,
    };
  } catch {
    return null;
  }
}
