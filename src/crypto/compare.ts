import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two texts are the same, in time that tells nothing of where they differ. Their lengths may be learnt:
 * use it where the length of the right answer is known to all, as that of a signature is.
 */
export function equalTexts(one: string, other: string): boolean {
  const left = Buffer.from(one, 'utf8');
  const right = Buffer.from(other, 'utf8');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Like `equalTexts`, and the length of a secret is not told either: digests of equal length are compared. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(fingerprint(one), fingerprint(other));
}

function fingerprint(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
