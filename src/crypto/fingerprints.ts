import { hash } from 'node:crypto';

export type FingerprintName = 'md5' | 'sha1' | 'sha256' | 'sha512';

/** The digest of a text's UTF-8 bytes (RFC 1321, FIPS 180-4). MD5 and SHA-1 tell contents apart, not attackers. */
export function fingerprint(name: FingerprintName, text: string, encoding: 'hex' | 'base64'): string {
  return hash(name, text, encoding);
}
