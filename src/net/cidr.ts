import { addressOf, compareWords, isMapped, readV4, readV6, v4Address, v4FromNumber, v6Address } from './address.ts';
import type { Address, Words } from './address.ts';

/** A range of addresses in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3). */
export interface Cidr {
  /** Canonical text: lowest address, slash, number of bits. */
  readonly text: string;
  /** The lowest address in the range. */
  readonly address: Address;
  /** Prefix length, 0 to 32 or 0 to 128 depending on the family of `address`. */
  readonly bits: number;
}

/** Why text is not a valid range, and what was probably meant. */
export interface CidrProblem {
  readonly problem: 'no_mask' | 'host_bits' | 'not_an_address' | 'bad_mask';
  readonly message: string;
  /** Valid text; an example when there is nothing to guess. */
  readonly suggestion: string;
  /** Whether the suggestion is only an example. */
  readonly isExample?: true;
}

const EXAMPLE = '192.0.2.0/24';

/**
 * Parses a range strictly: an address as in `parseAddress`, a slash, a decimal length, and no bits set beyond
 * it. A range of IPv4-mapped addresses (::ffff:0:0/96 or longer) becomes the IPv4 range; a shorter IPv6 range
 * (such as ::/0) contains no IPv4 address.
 */
export function parseCidr(text: string): Cidr | CidrProblem {
  const slash = text.indexOf('/');
  const address = slash < 0 ? text : text.slice(0, slash);
  const v4 = readV4(address, 0);
  const isV4 = v4 >= 0;
  if (isV4 && slash >= 0) {
    const bits = readBits(text.slice(slash + 1), 32);
    // Strict text of an IPv4 range is canonical.
    if (bits >= 0 && keepBits(v4, bits) === v4) return { text, address: v4Address(address, v4), bits };
  }
  const words = wordsOf(address);
  if (words === null) return notAnAddress(text, address, slash);
  const width = isV4 ? 32 : 128;
  if (slash < 0) {
    const suggestion = `${text}/${width}`;
    return {
      problem: 'no_mask',
      message: `'${text}' has no mask; a single address is '${suggestion}'`,
      suggestion,
    };
  }
  const mask = text.slice(slash + 1);
  const bits = readBits(mask, width);
  if (bits < 0) return badMask(text, mask, words, isV4);
  const lowest = lowestOf(words, isV4 ? bits + 96 : bits);
  if (compareWords(words, lowest) !== 0) {
    const suggestion = textOf(lowest, isV4, bits);
    const message = `'${text}' has bits set beyond its mask; the range that contains it is '${suggestion}'`;
    return { problem: 'host_bits', message, suggestion };
  }
  return cidrOf(lowest, isV4, bits);
}

/** As `parseCidr`, but an address without a mask is the range of that address alone. */
export function parseRange(text: string): Cidr | CidrProblem {
  const answer = parseCidr(text);
  return 'problem' in answer && answer.problem === 'no_mask' ? parseCidr(answer.suggestion) : answer;
}

/** Narrows the result of `parseCidr`. */
export function isCidrProblem(answer: Cidr | CidrProblem): answer is CidrProblem {
  return 'problem' in answer;
}

/** Whether `address` is in the range; always false across families. */
export function contains(cidr: Cidr, address: Address): boolean {
  const { address: range, bits } = cidr;
  if (range.family !== address.family) return false;
  if (range.family === 4) return beginAlike(range.w3, address.w3, bits);
  return (
    beginAlike(range.w0, address.w0, bits) &&
    beginAlike(range.w1, address.w1, bits - 32) &&
    beginAlike(range.w2, address.w2, bits - 64) &&
    beginAlike(range.w3, address.w3, bits - 96)
  );
}

/** Whether the leading bits of two words are the same. */
function beginAlike(one: number, other: number, bits: number): boolean {
  return bits <= 0 || (one ^ other) >>> (32 - Math.min(bits, 32)) === 0;
}

/** The first address after the range; null when the range ends at the last address. */
export function firstAfter(cidr: Cidr): Words | null {
  const { family, w0, w1, w2, w3 } = cidr.address;
  const words = [w0, w1, w2, w3];
  const bits = family === 4 ? cidr.bits + 96 : cidr.bits;
  const lastWord = family === 4 ? 3 : 0;
  // Adds one at the last bit of the prefix; a carry goes to the word before.
  let step = bits === 0 ? 0 : 2 ** ((128 - bits) % 32);
  for (let at = Math.ceil(bits / 32) - 1; at >= lastWord; at--) {
    const sum = words[at]! + step;
    words[at] = sum >>> 0;
    if (sum < 2 ** 32) return { w0: words[0]!, w1: words[1]!, w2: words[2]!, w3: words[3]! };
    step = 1;
  }
  return null;
}

/** The bits of an address of either family; IPv4 as its number in the last word. */
function wordsOf(address: string): Words | null {
  const v4 = readV4(address, 0);
  return v4 >= 0 ? { w0: 0, w1: 0, w2: 0, w3: v4 } : readV6(address);
}

function cidrOf(lowest: Words, isV4: boolean, bits: number): Cidr {
  if (isV4) {
    const address = v4FromNumber(lowest.w3);
    return { text: `${address.text}/${bits}`, address, bits };
  }
  // A mapped prefix shorter than 96 has host bits set and was refused before.
  const mapped = isMapped(lowest);
  const address = mapped ? addressOf(lowest) : v6Address(lowest);
  const length = mapped ? bits - 96 : bits;
  return { text: `${address.text}/${length}`, address, bits: length };
}

function textOf(lowest: Words, isV4: boolean, bits: number): string {
  return cidrOf(lowest, isV4, bits).text;
}

/** `words` with every bit from position `bits` on cleared. */
function lowestOf(words: Words, bits: number): Words {
  return {
    w0: keepBits(words.w0, bits),
    w1: keepBits(words.w1, bits - 32),
    w2: keepBits(words.w2, bits - 64),
    w3: keepBits(words.w3, bits - 96),
  };
}

function keepBits(word: number, bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? word : (word & (-1 << (32 - bits))) >>> 0;
}

function readBits(mask: string, width: number): number {
  let bits = 0;
  for (let at = 0; at < mask.length; at++) {
    const digit = mask.charCodeAt(at) - ZERO;
    const isLeadingZero = at === 0 && digit === 0 && mask.length > 1;
    if (digit < 0 || digit > 9 || isLeadingZero) return -1;
    bits = 10 * bits + digit;
    if (bits > width) return -1;
  }
  return mask === '' ? -1 : bits;
}

const ZERO = 0x30;

function badMask(text: string, mask: string, words: Words, isV4: boolean): CidrProblem {
  const width = isV4 ? 32 : 128;
  const bits = guessedBits(mask, width);
  const suggestion = textOf(lowestOf(words, isV4 ? bits + 96 : bits), isV4, bits);
  const message = `'${text}' needs a mask from 0 to ${width} after the slash, such as '${suggestion}'`;
  return { problem: 'bad_mask', message, suggestion };
}

/** What an invalid mask may have meant: leading zeros, a netmask in octets, or else a single address. */
function guessedBits(mask: string, width: number): number {
  const trimmed = mask.trim().replace(/^0+(?=\d)/, '');
  const bits = readBits(trimmed, width);
  if (bits >= 0) return bits;
  const netmask = readV4(trimmed, 0);
  if (netmask >= 0 && width === 32) {
    const ones = Math.clz32(~netmask);
    if (keepBits(0xffffffff, ones) === netmask) return ones;
  }
  return width;
}

function notAnAddress(text: string, address: string, slash: number): CidrProblem {
  const guessed = guess(address, slash < 0 ? '' : text.slice(slash + 1)) ?? fromStars(text);
  const suggestion = guessed ?? EXAMPLE;
  const message = `'${text}' is not an IPv4 or IPv6 range; a range is written like '${suggestion}'`;
  return {
    problem: 'not_an_address',
    message,
    suggestion,
    ...(guessed === undefined && { isExample: true }),
  };
}

/** `10.1.*.*` and `10.1.*` as `10.1.0.0/16`. */
function fromStars(text: string): string | undefined {
  const octets = text.split('.');
  const given = octets.findIndex((octet) => octet === '*');
  if (given < 1 || octets.length > 4 || octets.slice(given).some((octet) => octet !== '*')) return undefined;
  const lowest = [...octets.slice(0, given), '0', '0', '0'].slice(0, 4).join('.');
  return readV4(lowest, 0) < 0 ? undefined : `${lowest}/${8 * given}`;
}

/** Corrects common mistakes: white space, brackets, a zone, leading zeros, missing octets. */
function guess(address: string, mask: string): string | undefined {
  const bare = address
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '');
  const octets = bare.split('.').map((octet) => octet.replace(/^0+(?=\d)/, ''));
  // A short form is meant as a prefix (10/8), which is not how inet_aton reads it (0.0.0.10).
  const filled = mask === '' ? octets : [...octets, '0', '0', '0'].slice(0, Math.max(4, octets.length));
  for (const candidate of [bare, filled.join('.')]) {
    const words = wordsOf(candidate);
    if (words === null) continue;
    const isV4 = readV4(candidate, 0) >= 0;
    const bits = guessedBits(mask, isV4 ? 32 : 128);
    return textOf(lowestOf(words, isV4 ? bits + 96 : bits), isV4, bits);
  }
  return undefined;
}
