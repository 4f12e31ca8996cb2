import { digest } from '../crypto/digest.ts';

/** 96 bits: nobody can choose them but the operator. */
const DIGEST_UNITS = 16;

/** Digest of the lists of those who are let in, whatever their order; empty when all of them are. */
export function listsDigest(lists: readonly (readonly string[])[]): string {
  if (lists.every((list) => list.length === 0)) return '';
  const sorted = lists.map((list) => [...new Set(list)].toSorted());
  return digest('sha256', ['login lists', JSON.stringify(sorted)], 'base64').slice(0, DIGEST_UNITS);
}
