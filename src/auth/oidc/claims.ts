import { CLOCKS_DIFFER_MS } from '../limits.ts';
import { asciiLower } from '../../http/ascii.ts';
import { equalTexts, longDigest } from '../../crypto/digest.ts';
import { tokenType } from '../../filters/jwt_validation/algorithm.ts';
import type { OidcClient, OidcTokens } from '../../engine/oidc_question.ts';
import type { LoginUser } from '../identity.ts';

type Claims = Readonly<Record<string, unknown>>;
type IdToken = NonNullable<OidcTokens['id']>;

/** Maximum age of an ID token: it is issued during the login. */
const ISSUED_WITHIN_MS = 10 * 60_000;
const SUBJECT_UNITS = 255;

/** Hash of each signature algorithm, for `at_hash` (OpenID Connect Core §3.1.3.6). Others are refused. */
const HASHES = {
  RS256: 'sha256',
  PS256: 'sha256',
  ES256: 'sha256',
  RS384: 'sha384',
  PS384: 'sha384',
  ES384: 'sha384',
  RS512: 'sha512',
  PS512: 'sha512',
  ES512: 'sha512',
  EdDSA: 'sha512',
  Ed25519: 'sha512',
} as const;

/**
 * The problem of a verified ID token, as a sentence; null if it is valid. Also repeats the client library's
 * checks of issuer, audience and nonce, because logins depend on them with every driver. `nonce` is null for
 * tokens of a refresh, which have none (§12.2).
 */
export function idTokenProblem(
  { claims, algorithm, type }: IdToken,
  accessToken: string,
  client: OidcClient,
  nonce: string | null,
  nowMs: number,
): string | null {
  // RFC 8725 §3.11: a token of another kind, such as a logout token, has the same issuer, audience and keys.
  if (type !== undefined && tokenType(type) !== 'jwt') return 'the token is not an ID token, by its type';
  const { iss, aud, azp, sub, iat, exp, at_hash: hash } = claims;
  if (iss !== client.issuer) return 'the ID token has another issuer';
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(client.clientId)) return 'the ID token is for another app';
  if (audiences.length > 1 && azp !== client.clientId) return 'the ID token was issued to another app';
  if (azp !== undefined && azp !== client.clientId) return 'the ID token was issued to another app';
  // oxlint-disable-next-line no-control-regex -- §2: at most 255 ASCII characters
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_UNITS || !/^[\x20-\x7e]+$/.test(sub))
    return 'the ID token names no user';
  if (nonce !== null && claims['nonce'] !== nonce)
    return 'the nonce of the ID token does not match this login';
  if (!isTime(exp) || exp * 1_000 + CLOCKS_DIFFER_MS <= nowMs) return 'the ID token has expired';
  if (!isTime(iat)) return 'the ID token has no issue time';
  if (iat * 1_000 > nowMs + CLOCKS_DIFFER_MS) return 'the ID token was issued in the future';
  if (iat * 1_000 < nowMs - ISSUED_WITHIN_MS) return 'the ID token was issued too long ago';
  if (!Object.hasOwn(HASHES, algorithm)) return 'the signature algorithm of the ID token is not accepted';
  if (hash === undefined) return null;
  const name = HASHES[algorithm as keyof typeof HASHES];
  return typeof hash === 'string' && equalTexts(hash, leftHalf(name, accessToken))
    ? null
    : 'the access token does not match the ID token';
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function leftHalf(hash: (typeof HASHES)[keyof typeof HASHES], text: string): string {
  const bytes = longDigest(hash, text);
  return Buffer.from(bytes.subarray(0, bytes.length / 2)).toString('base64url');
}

/**
 * The verified e-mail address, or an empty text. `email_verified` counts only for the address in the same
 * response.
 */
function emailOf(claims: Claims, userInfo: Claims | null): string {
  const said = [userInfo, claims].flatMap((source) => {
    const email = source?.['email'];
    return typeof email === 'string' && email !== ''
      ? [{ email: asciiLower(email), verified: source!['email_verified'] }]
      : [];
  });
  const email = said[0]?.email ?? '';
  const ofIt = said.filter((each) => each.email === email).map(({ verified }) => verified);
  const isDenied = ofIt.some((verified) => verified === false || verified === 'false');
  return !isDenied && ofIt.some((verified) => verified === true || verified === 'true') ? email : '';
}

/** The user of verified claims; claims of the user-info response override those of the token. */
export function userOf(claims: Claims, userInfo: Claims | null): LoginUser {
  const all = { ...claims, ...userInfo };
  const text = (name: string): string => {
    const value = all[name];
    return typeof value === 'string' ? value : '';
  };
  // An unverified address may be any text that the user has typed.
  const email = emailOf(claims, userInfo);
  const name = text('name') || text('preferred_username') || email || text('sub');
  const groups: unknown = all['groups'];
  return {
    id: String(claims['sub']),
    name,
    email,
    groups: Array.isArray(groups) ? groups.filter((each) => typeof each === 'string') : [],
  };
}
