import { type Address, type Words, addressOf, v4FromNumber } from '../net/address.ts';
import type { Cidr } from '../net/cidr.ts';

/**
 * A set of client addresses as the numbers at which it begins and ends, alternately and ascending. IPv4 addresses
 * are the numbers below 2³²; IPv6 ones follow, mapped ones left out, because they are IPv4 addresses here.
 */
export type AddressSet = readonly bigint[];

const V6 = 1n << 32n;
const END = V6 + (1n << 128n);
const MAPPED = V6 + (0xffffn << 32n);

/** Every address that a client can have. */
export const ALL_ADDRESSES: AddressSet = [0n, MAPPED, MAPPED + (1n << 32n), END];
const NOT_MAPPED: AddressSet = [...ALL_ADDRESSES];
export const NO_ADDRESSES: AddressSet = [];

/** The addresses in one of the ranges. */
export function addressesIn(ranges: readonly Cidr[]): AddressSet {
  const bounds = ranges.map(({ address, bits }) => {
    const from = numberOf(address);
    return [from, from + (1n << BigInt((address.family === 4 ? 32 : 128) - bits))] as const;
  });
  bounds.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const set: bigint[] = [];
  for (const [from, to] of bounds) {
    const last = set.at(-1);
    if (last !== undefined && from <= last) set[set.length - 1] = to > last ? to : last;
    else set.push(from, to);
  }
  // Ranges of IPv6 may contain mapped addresses, which no client has.
  return set.at(-1)! > V6 ? intersection(set, NOT_MAPPED) : set;
}

/** The address alone. */
export function addressOnly(address: Address): AddressSet {
  const number = numberOf(address);
  return [number, number + 1n];
}

export function intersection(one: AddressSet, other: AddressSet): AddressSet {
  if (one === ALL_ADDRESSES) return other;
  if (other === ALL_ADDRESSES) return one;
  const set: bigint[] = [];
  for (let at = 0, to = 0; at < one.length && to < other.length;) {
    const from = one[at]! > other[to]! ? one[at]! : other[to]!;
    const until = one[at + 1]! < other[to + 1]! ? one[at + 1]! : other[to + 1]!;
    if (from < until) set.push(from, until);
    if (one[at + 1] === until) at += 2;
    else to += 2;
  }
  return set;
}

export function union(one: AddressSet, other: AddressSet): AddressSet {
  return complement(intersection(complement(one), complement(other)));
}

/** All addresses outside of the set. */
export function complement(set: AddressSet): AddressSet {
  if (set.length === 0) return ALL_ADDRESSES;
  const flipped = set[0] === 0n ? set.slice(1) : [0n, ...set];
  return intersection(NOT_MAPPED, flipped.length % 2 === 0 ? flipped : [...flipped, END]);
}

/** Number of IPv4 and of IPv6 addresses in the set. */
export function sizesOf(set: AddressSet): { readonly v4: bigint; readonly v6: bigint } {
  let v4 = 0n;
  let v6 = 0n;
  for (let at = 0; at < set.length; at += 2) {
    const from = set[at]!;
    const to = set[at + 1]!;
    if (from < V6) v4 += (to < V6 ? to : V6) - from;
    if (to > V6) v6 += to - (from > V6 ? from : V6);
  }
  return { v4, v6 };
}

/** Addresses for documentation (RFC 5737), which stand for a stranger. */
const STRANGERS = [0xcb007109n, 0xc6336409n, 0xc0000209n];

/** An address of the set, one for documentation if there is one; null for the empty set. */
export function addressFrom(set: AddressSet): Address | null {
  const stranger = STRANGERS.find((number) => isInside(set, number));
  const number = stranger ?? set[0];
  if (number === undefined) return null;
  if (number < V6) return v4FromNumber(Number(number));
  const bits = number - V6;
  const word = (shift: bigint): number => Number((bits >> shift) & 0xffffffffn);
  return addressOf({ w0: word(96n), w1: word(64n), w2: word(32n), w3: word(0n) });
}

export function isInside(set: AddressSet, number: bigint): boolean {
  for (let at = 0; at < set.length; at += 2) if (number >= set[at]! && number < set[at + 1]!) return true;
  return false;
}

export function numberOf({ family, w0, w1, w2, w3 }: Words & { readonly family: 4 | 6 }): bigint {
  if (family === 4) return BigInt(w3);
  return V6 + ((BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3));
}
