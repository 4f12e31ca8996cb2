import { type FieldList, isFieldValue } from '../http/fields.ts';
import { digest } from '../crypto/digest.ts';

/** Who logged in, as a provider vouches for. */
export interface LoginUser {
  /** Never changes and is never given to another user of the same provider (`sub`, numeric ids, NameID). */
  readonly id: string;
  readonly name: string;
  /** Empty when the provider vouches for none. */
  readonly email: string;
  /** Groups that a gate may authorize by; empty for most. */
  readonly groups: readonly string[];
}

/** Tokens of an app of one's own, kept only in the sealed session. */
export interface LoginTokens {
  readonly access: string;
  readonly refresh: string | null;
  readonly id: string | null;
  /** When the access token expires; null when the provider does not say. */
  readonly expiresMs: number | null;
}

/** Fields that tell an upstream who the user is; clients can never send them (`http/forwarding.ts`). */
export function identityFields(prefix: string, user: LoginUser, tokens: LoginTokens | null): FieldList {
  const fields: string[] = [];
  const add = (name: string, value: string | null, text = identityText): void => {
    if (value !== null && value !== '') fields.push(prefix + name, text(value));
  };
  add('user-id', user.id);
  add('user-name', user.name);
  add('user-email', user.email);
  if (tokens !== null) {
    add('oauth-access-token', tokens.access, tokenText);
    add('oauth-refresh-token', tokens.refresh, tokenText);
  }
  return fields;
}

const NOT_PLAIN = /[^\x20-\x7e]|%/g;

/**
 * A name may hold any letter: what a field cannot, and the percent sign, are percent-encoded as UTF-8 (RFC 8187 §3.2.1),
 * and blanks at an end, which readers of fields cut (RFC 9110 §5.5). So it never ends a line, and no two users have one
 * text. Half of a surrogate pair has no UTF-8: it goes as itself.
 */
export function identityText(text: string): string {
  const bytes = Buffer.concat(Array.from(text, bytesOf)).toString('latin1');
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === ' ') end--;
  let start = 0;
  while (start < end && bytes[start] === ' ') start++;
  const middle = bytes
    .slice(start, end)
    .replaceAll(NOT_PLAIN, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  return '%20'.repeat(start) + middle + '%20'.repeat(bytes.length - end);
}

/** A lone surrogate as the three bytes that UTF-8 would have for its number, and no text has. */
function bytesOf(character: string): Uint8Array {
  const code = character.codePointAt(0)!;
  if (code < 0xd800 || code > 0xdfff) return Buffer.from(character);
  return Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
}

/** A token is used as it came, its percent signs too (RFC 6749 appendix A.12); only what no field holds is encoded. */
function tokenText(text: string): string {
  const trimmed = text.trim();
  return isFieldValue(trimmed) && /^[\x20-\x7e]*$/.test(trimmed) ? trimmed : identityText(trimmed);
}

/** 96 bits: nobody can choose them but the operator. */
const DIGEST_UNITS = 16;

/** Digest of the lists of those who are let in, whatever their order; empty when all of them are. */
export function listsDigest(lists: readonly (readonly string[])[]): string {
  if (lists.every((list) => list.length === 0)) return '';
  const sorted = lists.map((list) => [...new Set(list)].toSorted());
  return digest('sha256', ['login lists', JSON.stringify(sorted)], 'base64').slice(0, DIGEST_UNITS);
}
