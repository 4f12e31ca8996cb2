import { equalSecrets } from '../../crypto/digest.ts';
import { type FieldList, allValues } from '../../http/fields.ts';

/** User name and password sent by a client. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const AUTHORIZATION = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
// oxlint-disable-next-line no-control-regex -- RFC 7617 §2 names these characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses an `Authorization` value of the Basic scheme (RFC 7617 §2): the first colon ends the user name, and
 * the text is UTF-8 (§2.1). Null for other schemes and ambiguous values.
 */
export function parseBasicAuth(value: string): Credentials | null {
  const token = AUTHORIZATION.exec(value)?.[1];
  if (token === undefined) return null;
  const bytes = Buffer.from(token, 'base64');
  // Some clients omit the padding; nonzero unused bits are still refused.
  if (bytes.toString('base64').replace(/=+$/, '') !== token.replace(/=+$/, '')) return null;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return null;
  }
  return CONTROLS.test(text) ? null : splitCredential(text);
}

/** The Basic credentials of a request; null if there are none or `Authorization` occurs twice. */
export function presentedCredentials(headers: FieldList): Credentials | null {
  const values = allValues(headers, 'authorization');
  return values.length === 1 ? parseBasicAuth(values[0]!) : null;
}

/** Splits `user:password` at its first colon; null if there is no colon. */
export function splitCredential(text: string): Credentials | null {
  const colon = text.indexOf(':');
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Whether the presented credentials are configured. All pairs are compared in full, so that the time
 * discloses neither which users exist nor how much of a password is correct.
 */
export function isAuthorized(presented: Credentials, known: readonly Credentials[]): boolean {
  let authorized = false;
  for (const { username, password } of known) {
    const sameUser = equalSecrets(presented.username, username);
    const samePassword = equalSecrets(presented.password, password);
    authorized = (sameUser && samePassword) || authorized;
  }
  return authorized;
}

/** The challenge for `WWW-Authenticate` (RFC 7617 §2.1); `realm` is printable ASCII. */
export function basicChallenge(realm: string): string {
  return `Basic realm="${realm.replaceAll(/["\\]/g, String.raw`\$&`)}", charset="UTF-8"`;
}
