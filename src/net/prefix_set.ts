import { compareWords } from './address.ts';
import type { Address, Words } from './address.ts';
import { firstAfter } from './cidr.ts';
import type { Cidr } from './cidr.ts';

/** A compiled list of ranges that says which of them matched, not only whether one did. */
export interface PrefixSet {
  /** Number of ranges given. */
  readonly size: number;
  /** Position of the most specific range that holds the address (of equal ranges the first), or -1. Allocates nothing. */
  find(address: Address): number;
}

/**
 * Compiles ranges. Two CIDR ranges are nested or apart, never overlapping in part, so the address space falls into
 * at most 2n + 1 segments with one most specific range each: a sorted array and a binary search, whose first
 * steps a small bucket index takes at once. 8 bytes for a segment of IPv4, 20 for one of IPv6.
 */
export function prefixSet(cidrs: readonly Cidr[]): PrefixSet {
  const find4 = finder4(flatten(cidrs, 4));
  const find6 = finder6(flatten(cidrs, 6));
  return {
    size: cidrs.length,
    find: (address) => (address.family === 4 ? find4(address.w3) : find6(address)),
  };
}

/** From `start` up to the next segment's start, `answer` is the most specific range; -1 is none. */
interface Segment {
  readonly start: Words;
  readonly answer: number;
}

/** The segments of one family in ascending order, none before the first range. */
function flatten(cidrs: readonly Cidr[], family: 4 | 6): Segment[] {
  const order: number[] = [];
  for (let index = 0; index < cidrs.length; index++)
    if (cidrs[index]!.address.family === family) order.push(index);
  // The wider range first where two begin together, so that the narrower one covers it.
  order.sort(
    (a, b) => compareWords(cidrs[a]!.address, cidrs[b]!.address) || cidrs[a]!.bits - cidrs[b]!.bits || a - b,
  );
  const segments: Segment[] = [];
  const open: { readonly index: number; readonly after: Words | null }[] = [];
  const emit = (start: Words, answer: number): void => {
    if (segments.length > 0 && compareWords(segments.at(-1)!.start, start) === 0) segments.pop();
    if ((segments.at(-1)?.answer ?? -1) !== answer) segments.push({ start, answer });
  };
  const closeUpTo = (start: Words | null): void => {
    for (let top = open.at(-1); top?.after; top = open.at(-1)) {
      if (start !== null && compareWords(top.after, start) > 0) return;
      open.pop();
      emit(top.after, open.at(-1)?.index ?? -1);
    }
  };
  for (const index of order) {
    const cidr = cidrs[index]!;
    closeUpTo(cidr.address);
    const top = open.at(-1);
    if (top !== undefined && sameRange(cidrs[top.index]!, cidr)) continue;
    emit(cidr.address, index);
    open.push({ index, after: firstAfter(cidr) });
  }
  closeUpTo(null);
  return segments;
}

function sameRange(a: Cidr, b: Cidr): boolean {
  return a.bits === b.bits && compareWords(a.address, b.address) === 0;
}

const MOST_BUCKETS = 65_536;

/**
 * Where the segments of each bucket of leading words begin: `first[bucket(word)] … first[bucket(word) + 1]` bounds
 * the search. Buckets divide the span in use evenly, so rules close together are still told apart.
 */
interface BucketIndex {
  readonly lowest: number;
  readonly perWord: number;
  readonly first: Uint32Array;
}

function bucketIndex(words: readonly number[]): BucketIndex {
  const lowest = words[0] ?? 0;
  const buckets = Math.min(MOST_BUCKETS, 2 ** Math.ceil(Math.log2(words.length + 1)));
  const perWord = buckets / ((words.at(-1) ?? 0) - lowest + 1);
  const first = new Uint32Array(buckets + 1);
  let at = 0;
  for (let bucket = 0; bucket < buckets; bucket++) {
    while (at < words.length && Math.floor((words[at]! - lowest) * perWord) < bucket) at++;
    first[bucket] = at;
  }
  first[buckets] = words.length;
  return { lowest, perWord, first };
}

function finder4(segments: readonly Segment[]): (value: number) => number {
  const starts = Uint32Array.from(segments, (segment) => segment.start.w3);
  const answers = Int32Array.from(segments, (segment) => segment.answer);
  const { lowest, perWord, first } = bucketIndex([...starts]);
  const lastBucket = first.length - 2;
  return (value) => {
    if (answers.length === 0 || value < lowest) return -1;
    const bucket = Math.min(lastBucket, Math.floor((value - lowest) * perWord));
    let low = first[bucket]!;
    let high = first[bucket + 1]!;
    // The number of starts at or below the value; the segment sought is the one before.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? -1 : answers[low - 1]!;
  };
}

function finder6(segments: readonly Segment[]): (address: Address) => number {
  const words = new Uint32Array(segments.length * 4);
  for (const [index, { start }] of segments.entries())
    words.set([start.w0, start.w1, start.w2, start.w3], index * 4);
  const answers = Int32Array.from(segments, (segment) => segment.answer);
  const { lowest, perWord, first } = bucketIndex(segments.map((segment) => segment.start.w0));
  const lastBucket = first.length - 2;
  return (address) => {
    const { w0, w1, w2, w3 } = address;
    if (answers.length === 0 || w0 < lowest) return -1;
    const bucket = Math.min(lastBucket, Math.floor((w0 - lowest) * perWord));
    let low = first[bucket]!;
    let high = first[bucket + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * 4;
      const order = words[at]! - w0 || words[at + 1]! - w1 || words[at + 2]! - w2 || words[at + 3]! - w3;
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? -1 : answers[low - 1]!;
  };
}
