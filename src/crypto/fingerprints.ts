import { hash } from 'node:crypto';

export type FingerprintName = 'md5' | 'sha1' | 'sha256' | 'sha512';

/** The digest of a text in UTF-8 (RFC 1321, FIPS 180-4). MD5 and SHA-1 are not collision resistant. */
export function fingerprint(name: FingerprintName, text: string, encoding: 'hex' | 'base64'): string {
  return hash(name, text, encoding);
}
