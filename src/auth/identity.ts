import { type FieldList, isFieldValue } from '../http/fields.ts';
import { digest } from '../crypto/digest.ts';

/** The logged-in user, as identified by the provider. */
export interface LoginUser {
  /** Stable and never reassigned within a provider (`sub`, numeric ids, NameID). */
  readonly id: string;
  readonly name: string;
  /** Empty if the provider does not verify one. */
  readonly email: string;
  /** Groups for authorization; empty for most providers. */
  readonly groups: readonly string[];
}

/** Tokens of the user's own app; stored only in the sealed session. */
export interface LoginTokens {
  readonly access: string;
  readonly refresh: string | null;
  readonly id: string | null;
  /** When the access token expires; null if the provider does not say. */
  readonly expiresMs: number | null;
}

const IDENTITY_NAMES = [
  'user-id',
  'user-name',
  'user-email',
  'oauth-access-token',
  'oauth-refresh-token',
] as const;

/** Names of all identity headers. A gate removes those of a gate before it, so that an upstream gets one user. */
export function identityNames(prefix: string): string[] {
  return IDENTITY_NAMES.map((name) => prefix + name);
}

/** Identity headers for the upstream; those sent by clients are removed (`http/forwarding.ts`). */
export function identityFields(prefix: string, user: LoginUser, tokens: LoginTokens | null): FieldList {
  const fields: string[] = [];
  const add = (name: (typeof IDENTITY_NAMES)[number], value: string | null, text = identityText): void => {
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
/** Texts that are their own encoding: most are. */
const PLAIN = /^[!-$&-~](?:[ -$&-~]*[!-$&-~])?$/;

/**
 * Encodes a name for a header field. Non-ASCII characters, controls and the percent sign are percent-encoded
 * as UTF-8 (RFC 8187 §3.2.1), as are leading and trailing spaces, which parsers trim (RFC 9110 §5.5). The
 * result cannot break the field, and different names have different results. Lone surrogates have no UTF-8;
 * see `bytesOf`.
 */
export function identityText(text: string): string {
  if (PLAIN.test(text)) return text;
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

/** Encodes a lone surrogate like other code points of three bytes; valid UTF-8 never contains these bytes. */
function bytesOf(character: string): Uint8Array {
  const code = character.codePointAt(0)!;
  if (code < 0xd800 || code > 0xdfff) return Buffer.from(character);
  return Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
}

/**
 * Tokens are forwarded unchanged, including percent signs (RFC 6749 appendix A.12); only bytes that are
 * invalid in a field are encoded.
 */
function tokenText(text: string): string {
  const trimmed = text.trim();
  return isFieldValue(trimmed) && /^[\x20-\x7e]*$/.test(trimmed) ? trimmed : identityText(trimmed);
}

/** 96 bits; only the operator can choose the lists, so collisions are not a concern. */
const DIGEST_UNITS = 16;

/** Digest of the authorization lists, independent of their order; empty if all users are authorized. */
export function listsDigest(lists: readonly (readonly string[])[]): string {
  if (lists.every((list) => list.length === 0)) return '';
  const sorted = lists.map((list) => [...new Set(list)].toSorted());
  return digest('sha256', ['login lists', JSON.stringify(sorted)], 'base64').slice(0, DIGEST_UNITS);
}
