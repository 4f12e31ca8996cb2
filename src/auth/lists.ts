import { digest } from '../crypto/digest.ts';

/** 96 bits; only the operator can choose the lists, so collisions are not a concern. */
const DIGEST_UNITS = 16;

/** Digest of the authorization lists, independent of their order; empty if all users are authorized. */
export function listsDigest(lists: readonly (readonly string[])[]): string {
  if (lists.every((list) => list.length === 0)) return '';
  const sorted = lists.map((list) => [...new Set(list)].toSorted());
  return digest('sha256', ['login lists', JSON.stringify(sorted)], 'base64').slice(0, DIGEST_UNITS);
}
