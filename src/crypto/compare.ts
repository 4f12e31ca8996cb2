import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares texts in constant time. The comparison may disclose their lengths, so use it only if the expected
 * length is public, like that of a signature.
 */
export function equalTexts(one: string, other: string): boolean {
  const left = Buffer.from(one, 'utf8');
  const right = Buffer.from(other, 'utf8');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Like `equalTexts`, but hides the length of a secret by comparing digests. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(fingerprint(one), fingerprint(other));
}

function fingerprint(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
