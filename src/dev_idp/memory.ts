import type { Identity } from './identities.ts';

/** An approved login, until its code is used. */
export interface Grant {
  readonly identity: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly nonce: string | null;
  /** `code_challenge` of PKCE; null without. */
  readonly challenge: string | null;
  readonly issuer: string;
  readonly atMs: number;
}

/** The state of the development provider; it lives as long as the process. */
export interface IdpMemory {
  identities: ReadonlyMap<string, Identity>;
  readonly codes: Map<string, Grant>;
  readonly accessTokens: Map<string, Grant>;
  readonly refreshTokens: Map<string, Grant>;
  /** An unguessable string. */
  readonly newSecret: () => string;
}

export function idpMemory(identities: readonly Identity[], newSecret: () => string): IdpMemory {
  return {
    identities: byKey(identities),
    codes: new Map(),
    accessTokens: new Map(),
    refreshTokens: new Map(),
    newSecret,
  };
}

export function byKey(identities: readonly Identity[]): ReadonlyMap<string, Identity> {
  return new Map(identities.map((identity) => [identity.key, identity]));
}

const KEPT = 10_000;
const CODE_MS = 60_000;
export const TOKEN_SECONDS = 3_600;

/** Stores a value under a new secret; drops the oldest above the limit. */
export function keep(memory: IdpMemory, where: Map<string, Grant>, grant: Grant): string {
  const secret = memory.newSecret();
  where.set(secret, grant);
  for (const oldest of where.keys()) {
    if (where.size <= KEPT) break;
    where.delete(oldest);
  }
  return secret;
}

/** Redeems a code: it is valid once, for a minute. */
export function takeCode({ codes }: IdpMemory, code: string, nowMs: number): Grant | null {
  const grant = codes.get(code);
  codes.delete(code);
  return grant === undefined || nowMs - grant.atMs >= CODE_MS ? null : grant;
}

/** The identity of a grant, if the grant is still valid. */
export function identityOf({ identities }: IdpMemory, grant: Grant | null | undefined): Identity | null {
  const identity = grant === null || grant === undefined ? undefined : identities.get(grant.identity);
  return identity === undefined || !identity.active ? null : identity;
}
