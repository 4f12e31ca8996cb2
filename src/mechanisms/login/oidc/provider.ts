import type { OidcAnswer, OidcClient, OidcRequest, OidcTokens } from '../../../engine/oidc_question.ts';
import { type Flow, asked } from '../flow.ts';
import type { LoginTokens } from '../identity.ts';
import type { Begun, IdentityProvider, LoggedIn, LoginContext, LoginRefusal } from '../provider.ts';
import type { Pending } from '../pending.ts';
import type { Session } from '../session.ts';
import { backchannelLogout } from './backchannel.ts';
import { idTokenProblem, userOf } from './claims.ts';

/** A gate of OpenID Connect as configured. */
export interface OidcSettings extends OidcClient {
  readonly scopes: readonly string[];
  /** Further parameters of the authorization URL; those of the protocol cannot be replaced. */
  readonly parameters: Readonly<Record<string, string>>;
}

const OIDC_SCOPES = ['openid', 'email', 'profile'];

/** OpenID Connect, code flow with PKCE (OpenID Connect Core §3.1, RFC 7636). */
export function oidcProvider(settings: OidcSettings): IdentityProvider {
  const { issuer, clientId, clientSecret, parameters } = settings;
  const client = { issuer, clientId, clientSecret };
  const ask = (context: LoginContext, request: OidcRequest): Flow<OidcAnswer> =>
    asked({ ask: 'oidc', client, nowMs: context.world.nowMs(), request });
  const id = `oidc ${issuer}`;
  const scope = [
    ...new Set(['openid', ...(settings.scopes.length > 0 ? settings.scopes : OIDC_SCOPES)]),
  ].join(' ');

  return {
    id,
    label: issuerName(issuer),
    clientId,
    callback: 'callback',
    callbackBy: 'get',
    stateField: 'state',
    begin: (pending, state, context) =>
      begin(pending, state, context, (redirectUri) =>
        ask(context, {
          does: 'authorize',
          redirectUri,
          scope,
          state,
          nonce: pending.nonce,
          verifier: pending.verifier,
          parameters,
        }),
      ),
    finish: (fields, pending, context) =>
      pending === null
        ? { refused: 'callback_refused', says: 'The provider cannot start a login.' }
        : finish(fields, pending, context),
    check: (session, context) => check(session, context),
    logout: (session, context) => logout(session, context),
    other: (path, context) =>
      path === 'backchannel_logout' && context.request.method === 'POST'
        ? backchannelLogout({ client, provider: id }, context, () => ask(context, { does: 'keys' }))
        : null,
  };

  function* finish(
    fields: URLSearchParams,
    pending: Pending,
    context: LoginContext,
  ): Flow<LoggedIn | LoginRefusal> {
    const query = context.request.query ?? '';
    const answer = yield* ask(context, {
      does: 'exchange',
      callbackUrl: `${context.site.callbackUrl}?${query}`,
      state: fields.get('state') ?? '',
      nonce: pending.nonce,
      verifier: pending.verifier,
    });
    const tokens = 'tokens' in answer ? answer.tokens : null;
    if (!('tokens' in answer) || tokens === null) return refusalOf(answer);
    if (tokens.id === null) return untrusted('the provider has sent no ID token');
    const nowMs = context.world.nowMs();
    const problem = idTokenProblem(tokens.id, tokens.access, client, pending.nonce, nowMs);
    if (problem !== null) return untrusted(problem);
    const { claims } = tokens.id;
    const { userInfo } = answer;
    if (userInfo !== null && userInfo['sub'] !== claims['sub'])
      return untrusted('the user-info response is about another user');
    return {
      user: userOf(claims, userInfo),
      providerSession: typeof claims['sid'] === 'string' ? claims['sid'] : null,
      tokens: keptTokens(tokens, null, nowMs),
    };
  }

  /** Asks again with the refresh token, or where there is none with the access token. */
  function* check(session: Session, context: LoginContext): Flow<LoggedIn | LoginRefusal> {
    const { tokens, user, providerSession } = session;
    if (tokens === null) return { refused: 'denied', says: 'The session cannot be renewed.' };
    const subject = user.id;
    const answer = yield* ask(
      context,
      tokens.refresh === null
        ? { does: 'user_info', accessToken: tokens.access, subject }
        : { does: 'refresh', refreshToken: tokens.refresh, subject },
    );
    if (!('tokens' in answer)) return refusalOf(answer);
    const { userInfo } = answer;
    const nowMs = context.world.nowMs();
    const fresh = answer.tokens;
    const freshId = fresh?.id ?? null;
    if (userInfo !== null && userInfo['sub'] !== subject)
      return untrusted('the user-info response is about another user');
    if (fresh !== null && freshId !== null) {
      const problem = idTokenProblem(freshId, fresh.access, client, null, nowMs);
      if (problem !== null) return untrusted(problem);
      if (freshId.claims['sub'] !== subject) return untrusted('the new ID token is of another user');
    }
    const claims = { sub: subject, name: user.name, ...freshId?.claims };
    const hasSaid = userInfo !== null || freshId !== null;
    return {
      user: hasSaid ? userOf(claims, userInfo) : user,
      providerSession,
      tokens: fresh === null ? tokens : keptTokens(fresh, tokens, nowMs),
    };
  }

  function* logout(session: Session, context: LoginContext): Flow<string | null> {
    const answer = yield* ask(context, {
      does: 'logout',
      idToken: session.tokens?.id ?? null,
      returnUrl: `${context.site.origin}${context.site.base}signed_out`,
    });
    // The session has ended here, whether or not the provider can be told.
    return 'url' in answer && answer.url !== '' ? answer.url : null;
  }
}

function* begin(
  _pending: Pending,
  _state: string,
  { site }: LoginContext,
  authorize: (redirectUri: string) => Flow<OidcAnswer>,
): Flow<Begun> {
  const answer = yield* authorize(site.callbackUrl);
  return 'url' in answer ? { location: answer.url } : refusalOf(answer);
}

function issuerName(issuer: string): string {
  return issuer.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

function keptTokens(tokens: OidcTokens, before: LoginTokens | null, nowMs: number): LoginTokens {
  const { access, refresh, id, expiresInSeconds } = tokens;
  return {
    access,
    refresh: refresh ?? before?.refresh ?? null,
    id: id?.token ?? before?.id ?? null,
    expiresMs: expiresInSeconds === null ? null : nowMs + expiresInSeconds * 1_000,
  };
}

function untrusted(says: string): LoginRefusal {
  return { refused: 'identity_refused', says: `The answer of the provider cannot be trusted: ${says}.` };
}

/** What a failure means for the user; its detail is for the trace. */
export function refusalOf(answer: OidcAnswer): LoginRefusal {
  if (!('failure' in answer)) return untrusted('it is not what was asked for');
  const { failure, detail } = answer;
  const facts = { failure, detail };
  switch (failure) {
    case 'denied':
      return { refused: 'denied', says: 'The identity provider has refused the login.', detail: facts };
    case 'invalid':
      return { ...untrusted('a check has failed'), detail: facts };
    case 'unreachable':
    case 'timeout':
    case 'discovery':
      return {
        refused: 'provider_failed',
        says: 'The identity provider cannot be reached. Please try again later.',
        detail: facts,
      };
  }
}
