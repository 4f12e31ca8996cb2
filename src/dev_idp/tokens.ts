import { longDigest } from '../crypto/digest.ts';
import type { SigningKey } from '../crypto/signing_key.ts';
import type { Identity, Misbehaviour } from './identities.ts';
import { type Grant, type IdpMemory, TOKEN_SECONDS, identityOf, keep, takeCode } from './memory.ts';

/** The token endpoint's response before serialisation. */
export type TokenAnswer =
  | { readonly error: string; readonly status: number }
  | {
      readonly identity: Identity;
      readonly grant: Grant;
      readonly access: string;
      readonly refresh: string;
    };

/** Exchanges a code or a refresh token (RFC 6749 §4.1.3, §6; RFC 7636 §4.6). */
export function exchange(memory: IdpMemory, form: URLSearchParams, nowMs: number): TokenAnswer {
  const isRefresh = form.get('grant_type') === 'refresh_token';
  if (!isRefresh && form.get('grant_type') !== 'authorization_code')
    return { error: 'unsupported_grant_type', status: 400 };
  const grant = isRefresh
    ? memory.refreshTokens.get(form.get('refresh_token') ?? '')
    : takeCode(memory, form.get('code') ?? '', nowMs);
  const identity = identityOf(memory, grant);
  if (grant === null || grant === undefined || identity === null)
    return { error: 'invalid_grant', status: 400 };
  if (identity.misbehave === 'code_refused') return { error: 'invalid_grant', status: 400 };
  if (identity.misbehave === 'unavailable') return { error: 'temporarily_unavailable', status: 503 };
  if (!isRefresh) {
    if (form.get('redirect_uri') !== grant.redirectUri) return { error: 'invalid_grant', status: 400 };
    if (grant.challenge !== null && challengeOf(form.get('code_verifier') ?? '') !== grant.challenge)
      return { error: 'invalid_grant', status: 400 };
  }
  const access = keep(memory, memory.accessTokens, { ...grant, atMs: nowMs });
  const refresh = isRefresh ? form.get('refresh_token')! : keep(memory, memory.refreshTokens, grant);
  return { identity, grant, access, refresh };
}

function challengeOf(verifier: string): string {
  return Buffer.from(longDigest('sha256', verifier)).toString('base64url');
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Claims of the ID token, with the identity's fault. */
export function idClaims(
  { identity, grant, access }: Extract<TokenAnswer, { access: string }>,
  nowMs: number,
): Record<string, unknown> {
  const now = Math.floor(nowMs / 1_000);
  const hash = Buffer.from(longDigest('sha256', access).subarray(0, 16)).toString('base64url');
  const claims: Record<string, unknown> = {
    iss: grant.issuer,
    aud: grant.clientId,
    iat: now,
    exp: now + TOKEN_SECONDS,
    sid: `session-of-${identity.key}`,
    at_hash: hash,
    ...openidClaims(identity),
  };
  if (grant.nonce !== null) claims['nonce'] = grant.nonce;
  return { ...claims, ...amiss(identity, now) };
}

/** Claims that a fault replaces; other faults are applied elsewhere. */
function amiss({ misbehave }: Identity, now: number): Record<string, unknown> {
  const wrong: Partial<Record<Misbehaviour, Record<string, unknown>>> = {
    expired: { iat: now - 2 * TOKEN_SECONDS, exp: now - TOKEN_SECONDS },
    issued_long_ago: { iat: now - TOKEN_SECONDS },
    issued_in_future: { iat: now + TOKEN_SECONDS, exp: now + 2 * TOKEN_SECONDS },
    wrong_audience: { aud: 'another-app' },
    wrong_issuer: { iss: 'https://another-provider.example' },
    wrong_nonce: { nonce: 'of-another-login' },
    wrong_at_hash: { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' },
  };
  return misbehave === null ? {} : (wrong[misbehave] ?? {});
}

/** Signs the ID token with the published key, or wrongly if the identity's fault says so. */
export function idToken(
  answer: Extract<TokenAnswer, { access: string }>,
  keys: { readonly right: SigningKey; readonly wrong: SigningKey },
  nowMs: number,
): string {
  const claims = idClaims(answer, nowMs);
  const { misbehave } = answer.identity;
  if (misbehave === 'unsigned') {
    return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
  }
  return misbehave === 'bad_signature'
    ? keys.wrong.token(claims, { kid: keys.right.jwk['kid'] })
    : keys.right.token(claims);
}

/** Standard claims of a user (OpenID Connect Core §5.1). */
export function openidClaims(identity: Identity): Record<string, unknown> {
  const { id, key, name, email, emailVerified, groups, misbehave } = identity;
  const about: Record<string, unknown> = { sub: id, name, preferred_username: key };
  if (misbehave !== 'no_email') Object.assign(about, { email, email_verified: emailVerified });
  if (groups.length > 0) about['groups'] = groups;
  return about;
}

/** The user-info response. */
export function userInfo(identity: Identity): Record<string, unknown> {
  const claims = openidClaims(identity);
  return identity.misbehave === 'wrong_user' ? { ...claims, sub: 'somebody-else' } : claims;
}
