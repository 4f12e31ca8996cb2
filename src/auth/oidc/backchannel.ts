import { CLOCKS_DIFFER_MS } from '../limits.ts';
import { JWS_ALGORITHMS } from '../../crypto/jws.ts';
import type { OidcAnswer, OidcClient } from '../../engine/oidc_question.ts';
import {
  type Token,
  claimsProblem,
  isTokenProblem,
  readKeySet,
  readToken,
  signatureProblem,
  tokenType,
} from '../../filters/jwt_validation/algorithm.ts';
import { type Conversation, postedForm } from '../conversation.ts';
import { published, useIdOnce } from '../one_time.ts';
import type { Answered, LoginContext } from '../provider.ts';

const BODY_LIMIT_BYTES = 64 * 1_024;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Maximum age of a logout token; used ones are remembered for this time. */
const ISSUED_WITHIN_MS = 5 * 60_000;
/** Symmetric algorithms are excluded: a key set contains public keys. */
const ALGORITHMS = JWS_ALGORITHMS.filter((name) => !name.startsWith('HS'));

/**
 * Handles a back-channel logout request of the provider (OpenID Connect Back-Channel Logout 1.0 §2.5 to
 * §2.8).
 */
export function* backchannelLogout(
  { client, provider }: { readonly client: OidcClient; readonly provider: string },
  context: LoginContext,
  keys: () => Conversation<OidcAnswer>,
): Conversation<Answered> {
  const fields = yield* postedForm(BODY_LIMIT_BYTES);
  if (fields === null) return refused('the message is incomplete');
  const tokens = fields.getAll('logout_token');
  if (tokens.length !== 1) return refused('the message must contain exactly one logout token');
  const token = readToken(tokens[0]!);
  if (isTokenProblem(token)) return refused(token.message);
  const nowMs = context.world.nowMs();
  const problem = logoutProblem(token, client, nowMs);
  if (problem !== null) return refused(problem);
  const answer = yield* keys();
  if (!('keySet' in answer)) return refused('the keys of the provider are unavailable', 503);
  const unsigned = signatureProblem(token, readKeySet(answer.keySet) ?? []);
  if (unsigned !== null) return refused(unsigned.message);
  const { sid, sub, jti } = token.payload;
  const life = {
    sinceMs: Number(token.payload['iat']) * 1_000,
    untilMs: nowMs + ISSUED_WITHIN_MS + CLOCKS_DIFFER_MS,
  };
  const use = yield* useIdOnce(context, 'message', `logout ${provider} ${String(jti)}`, life);
  if (use === 'used') return refused('the logout token was used before');
  if (use === 'unknown') return refused('it cannot be checked whether the logout token was used before', 503);
  // §2.6: `sid` selects one session; without it, all sessions of the user end.
  if (typeof sid === 'string') context.registry.revokeAt(provider, { session: sid }, nowMs);
  else context.registry.revokeAt(provider, { user: String(sub) }, nowMs);
  yield* published(context);
  const detail = { by: typeof sid === 'string' ? 'session' : 'user' };
  return { reason: 'provider_logout', detail, response: { status: 200, headers: NO_STORE, body: '' } };
}

function logoutProblem(token: Token, client: OidcClient, nowMs: number): string | null {
  const { header, payload } = token;
  if (!ALGORITHMS.includes(token.algorithm)) return `the algorithm ${token.algorithm} is not accepted`;
  const type = tokenType(header['typ']);
  // An ID token must not be accepted as a logout token; older providers set no type.
  if (header['typ'] !== undefined && type !== 'logout+jwt' && type !== 'jwt')
    return 'this is not a logout token';
  const problem = claimsProblem(
    token,
    {
      algorithms: ALGORITHMS,
      issuers: [client.issuer],
      audiences: [client.clientId],
      type: null,
      expires: false,
    },
    nowMs,
  );
  if (problem !== null) return problem.message;
  const { iat, jti, events, nonce, sub, sid } = payload;
  if (
    typeof iat !== 'number' ||
    iat * 1_000 > nowMs + CLOCKS_DIFFER_MS ||
    iat * 1_000 < nowMs - ISSUED_WITHIN_MS
  )
    return 'the logout token is too old or issued in the future';
  if (typeof jti !== 'string' || jti === '') return 'the logout token has no id';
  if (nonce !== undefined) return 'a logout token has no nonce';
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, EVENT))
    return 'the token contains no logout event';
  return typeof sid === 'string' || (typeof sub === 'string' && sub !== '')
    ? null
    : 'the logout token names neither a session nor a user';
}

const NO_STORE = ['cache-control', 'no-store'];

/** §2.8: 400 with an error that discloses nothing about sessions. */
function refused(message: string, status = 400): Answered {
  const body = `${JSON.stringify({ error: 'invalid_request', error_description: message })}\n`;
  const headers = ['content-type', 'application/json', ...NO_STORE];
  return {
    reason: 'callback_refused',
    detail: { message, problem: 'logout_token' },
    response: { status, headers, body },
  };
}
