import { returnedState } from './identities.ts';
import { type IdpMemory, keep } from './memory.ts';

/** An authorization request of a browser. */
export interface Authorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly scope: string;
  readonly nonce: string | null;
  readonly challenge: string | null;
}

/** Reads the query of an authorization URL; returns a string with the error if it is invalid. */
export function readAuthorization(query: URLSearchParams): Authorization | string {
  const clientId = query.get('client_id');
  const redirectUri = query.get('redirect_uri');
  if (clientId === null) return 'client_id is missing';
  if (redirectUri === null || URL.parse(redirectUri) === null) return 'redirect_uri is missing';
  if (query.get('response_type') !== 'code') return 'response_type is not code';
  const challenge = query.get('code_challenge');
  if (challenge !== null && query.get('code_challenge_method') !== 'S256')
    return 'code_challenge_method is not S256';
  return {
    clientId,
    redirectUri,
    state: query.get('state'),
    scope: query.get('scope') ?? '',
    nonce: query.get('nonce'),
    challenge,
  };
}

/** The redirect after a user was chosen; null if there is no user of this name. */
export function approve(
  memory: IdpMemory,
  asked: Authorization,
  key: string,
  issuer: string,
  nowMs: number,
): string | null {
  const identity = memory.identities.get(key);
  if (identity === undefined) return null;
  const url = new URL(asked.redirectUri);
  const { misbehave } = identity;
  if (misbehave === 'denied' || !identity.active) {
    url.searchParams.set('error', 'access_denied');
    url.searchParams.set('error_description', 'the user denied access');
  } else {
    const { clientId, redirectUri, scope, nonce, challenge } = asked;
    const grant = { identity: key, clientId, redirectUri, scope, nonce, challenge, issuer, atMs: nowMs };
    url.searchParams.set('code', keep(memory, memory.codes, grant));
  }
  if (asked.state !== null) url.searchParams.set('state', returnedState(identity, asked.state));
  return url.href;
}
