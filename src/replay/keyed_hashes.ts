import { type HmacKey, hmac, hmacKey } from '../crypto/digest.ts';
import type { Mark } from '../http/secrets.ts';

/**
 * The key of hashes that replace redacted values in a recording. Equal values have equal hashes (HMAC-SHA-256, RFC 2104);
 * without the key no value can be tried.
 */
export interface HashKey {
  /** Shows which hashes were made with the same key; 8 hexadecimal digits. */
  readonly id: string;
  /** The hash of a value, 32 hexadecimal digits. */
  readonly hash: (value: string) => string;
}

/** Minimum length of a key: a shorter one could be guessed. */
export const MIN_KEY_BYTES = 16;

const ID_DIGITS = 8;
const HASH_DIGITS = 32;

export function hashKey(bytes: Uint8Array): HashKey {
  const key: HmacKey = hmacKey(bytes);
  // The first byte tells the key's id from hashes of values.
  const digits = (kind: 'id' | 'value', text: string) => hmac('sha256', key, [kind, '\0', text], 'hex');
  return {
    id: digits('id', '').slice(0, ID_DIGITS),
    hash: (value) => digits('value', value).slice(0, HASH_DIGITS),
  };
}

/** Makes marks with hashes: `[redacted:6f0c12ab.93…]`. Marks that it has made stay as they are. */
export function marking({ id, hash }: HashKey): Mark {
  const made = new Set<string>();
  return (value) => {
    if (made.has(value)) return value;
    const mark = `[redacted:${id}.${hash(value)}]`;
    made.add(mark);
    return mark;
  };
}

const MARK = /\[redacted(?::[0-9a-f]{8}\.[0-9a-f]{32})?\]/g;

/** A URL with marks that are valid there: brackets are not valid in a query. */
export function marksInUrl(text: string): string {
  return text.replaceAll(MARK, (mark) => mark.slice(1, -1));
}

/** A value of such a URL with its mark as in other texts. */
export function markOfParameter(value: string): string {
  return /^redacted(?::[0-9a-f]{8}\.[0-9a-f]{32})?$/.test(value) ? `[${value}]` : value;
}

const HASHED = /^(.*?)\[redacted:([0-9a-f]{8})\.([0-9a-f]{32})\](.*)$/s;

interface Hashed {
  readonly before: string;
  readonly id: string;
  readonly hash: string;
  readonly after: string;
}

/** A text as it was before redaction: known, known but for one value with a hash, or unknown. */
function hashedIn(text: string): string | Hashed | null {
  if (!text.includes('[redacted')) return text;
  const [, before, id, hash, after] = HASHED.exec(text) ?? [];
  if (before === undefined || `${before}${after!}`.includes('[redacted')) return null;
  return { before, id: id!, hash: hash!, after: after! };
}

/** The key id of a text that is nothing but a hash; null for other texts. */
export function keyIdOf(text: string): string | null {
  const hashed = hashedIn(text);
  return typeof hashed === 'object' && hashed !== null ? hashed.id : null;
}

/** Whether two texts were equal before redaction; null if it is not known. With the key, one may be an unredacted text. */
export function wereEqual(one: string, other: string, key: HashKey | null): boolean | null {
  const [left, right] = [hashedIn(one), hashedIn(other)];
  if (left === null || right === null) return null;
  if (typeof left === 'string') return typeof right === 'string' ? left === right : isValue(right, left, key);
  if (typeof right === 'string') return isValue(left, right, key);
  const isComparable = left.id === right.id && left.before === right.before && left.after === right.after;
  return isComparable ? left.hash === right.hash : null;
}

function isValue({ before, id, hash, after }: Hashed, text: string, key: HashKey | null): boolean | null {
  const isLong = text.length >= before.length + after.length;
  if (!isLong || !text.startsWith(before) || !text.endsWith(after)) return false;
  if (key === null || key.id !== id) return null;
  return key.hash(text.slice(before.length, text.length - after.length)) === hash;
}
