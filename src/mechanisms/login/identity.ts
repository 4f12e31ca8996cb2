import type { FieldList } from '../../http/fields.ts';
import { isFieldValue } from '../../http/fields.ts';

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
  const add = (name: string, value: string | null): void => {
    if (value !== null && value !== '') fields.push(prefix + name, fieldText(value));
  };
  add('user-id', user.id);
  add('user-name', user.name);
  add('user-email', user.email);
  if (tokens !== null) {
    add('oauth-access-token', tokens.access);
    add('oauth-refresh-token', tokens.refresh);
  }
  return fields;
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const NOT_PLAIN = /[^\x20-\x7e]|%/g;

/** A name may hold any letter: what a field cannot is percent-encoded as UTF-8 (RFC 8187 §3.2.1), so it never ends a line. */
function fieldText(text: string): string {
  const trimmed = text.trim();
  // oxlint-disable-next-line no-control-regex -- as above
  if (/^[\x20-\x7e]*$/.test(trimmed) && isFieldValue(trimmed)) return trimmed;
  return Buffer.from(trimmed, 'utf8')
    .toString('latin1')
    .replaceAll(NOT_PLAIN, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
