import ipaddr from 'ipaddr.js';

/** 128 bits as four unsigned 32-bit words, most significant first. */
export interface Words {
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
}

/**
 * A parsed IP address, immutable. An IPv4 address is a number in `w3`, with zero in the other words. An
 * IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes that IPv4 address, so that a dual-stack socket changes
 * no decision.
 */
export interface Address extends Words {
  /** Canonical text: dotted decimal, or RFC 5952. */
  readonly text: string;
  readonly family: 4 | 6;
}

const DOT = 46;
const COLON = 58;
const ZERO = 48;

/**
 * Parses an address as `inet_pton` does: four decimal octets without leading zeros, or RFC 4291 §2.2. Returns
 * null for octal, short forms, zones, brackets and white space.
 */
export function parseAddress(text: string): Address | null {
  const v4 = readV4(text, 0);
  if (v4 >= 0) return v4Address(text, v4);
  if (text.startsWith('::ffff:')) {
    const mapped = readV4(text, 7);
    if (mapped >= 0) return v4Address(text.slice(7), mapped);
  }
  const words = readV6(text);
  return words === null ? null : addressOf(words);
}

/**
 * Parses the address of a socket as the system writes it: a link-local one has a zone (`fe80::1%eth0`, RFC
 * 4007 §11), which names an interface and is not part of the address.
 */
export function parseSocketAddress(text: string): Address | null {
  const zone = text.indexOf('%');
  if (zone < 0) return parseAddress(text);
  const bare = text.slice(0, zone);
  return bare.includes(':') && zone < text.length - 1 ? parseAddress(bare) : null;
}

/** The address of 128 IPv6 bits; IPv4-mapped ones become IPv4. */
export function addressOf(words: Words): Address {
  if (isMapped(words)) return v4Address(v4Text(words.w3), words.w3);
  return v6Address(words);
}

/** Whether 128 bits are in ::ffff:0:0/96. */
export function isMapped(words: Words): boolean {
  return words.w0 === 0 && words.w1 === 0 && words.w2 === 0xffff;
}

/** The IPv4 address with this unsigned 32-bit number. */
export function v4FromNumber(value: number): Address {
  return v4Address(v4Text(value), value);
}

/** The IPv6 address of 128 bits, without conversion of mapped ones. */
export function v6Address({ w0, w1, w2, w3 }: Words): Address {
  const parts = [
    w0 >>> 16,
    w0 & 0xffff,
    w1 >>> 16,
    w1 & 0xffff,
    w2 >>> 16,
    w2 & 0xffff,
    w3 >>> 16,
    w3 & 0xffff,
  ];
  return { text: new ipaddr.IPv6(parts).toRFC5952String(), family: 6, w0, w1, w2, w3 };
}

/** The address in network byte order: 4 or 16 bytes. */
export function addressBytes({ family, w0, w1, w2, w3 }: Address): Uint8Array {
  const words = family === 4 ? [w3] : [w0, w1, w2, w3];
  return Uint8Array.from(words.flatMap((word) => [word >>> 24, word >>> 16, word >>> 8, word]));
}

/** Numeric order; for addresses of one family only. */
export function compareWords(a: Words, b: Words): number {
  return a.w0 - b.w0 || a.w1 - b.w1 || a.w2 - b.w2 || a.w3 - b.w3;
}

/** An IPv4 address with its canonical text and its number. */
export function v4Address(text: string, value: number): Address {
  return { text, family: 4, w0: 0, w1: 0, w2: 0, w3: value };
}

function v4Text(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** The number of a dotted-decimal address that takes all of `text` from `from` on, or -1. */
export function readV4(text: string, from: number): number {
  // The longest is 255.255.255.255; the limit bounds the work on hostile input.
  if (text.length - from > 15) return -1;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const digit = code - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    } else {
      if (code !== DOT || octet < 0 || dots === 3) return -1;
      value = (value << 8) | octet;
      octet = -1;
      dots++;
    }
  }
  return dots === 3 && octet >= 0 ? ((value << 8) | octet) >>> 0 : -1;
}

/**
 * The bits of an IPv6 address in any form of RFC 4291 §2.2, or null. IPv4-mapped ones get no special
 * treatment.
 */
export function readV6(text: string): Words | null {
  // The longest has six groups and a dotted quad: 45 characters.
  if (text.length < 2 || text.length > 45) return null;
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return null;
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    if (count === 8) return null;
    const start = at;
    let group = 0;
    let digit = hexDigit(text.charCodeAt(at));
    while (digit >= 0 && at - start < 4) {
      group = group * 16 + digit;
      digit = hexDigit(text.charCodeAt(++at));
    }
    if (at === start) return null;
    if (text.charCodeAt(at) === DOT) {
      const v4 = readV4(text, start);
      if (v4 < 0 || count > 6) return null;
      groups[count++] = v4 >>> 16;
      groups[count++] = v4 & 0xffff;
      break;
    }
    groups[count++] = group;
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON) return null;
    at++;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return null;
      gap = count;
      at++;
    } else if (at === text.length) return null;
  }
  return wordsOf(groups, count, gap);
}

/**
 * Expands `count` groups with `::` before group `gap` (-1: none) to eight; null when that is not possible.
 */
function wordsOf(groups: readonly number[], count: number, gap: number): Words | null {
  if (gap < 0 ? count !== 8 : count === 8) return null;
  const shift = 8 - count;
  const group = (index: number): number => {
    if (gap < 0 || index < gap) return groups[index]!;
    return index < gap + shift ? 0 : groups[index - shift]!;
  };
  const word = (index: number): number => group(index) * 0x10000 + group(index + 1);
  return { w0: word(0), w1: word(2), w2: word(4), w3: word(6) };
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= 57) return code - ZERO;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
