import type { OidcAnswer, OidcClient, OidcRequest, OidcTokens } from '../../engine/oidc_question.ts';
import { type Conversation, asked } from '../conversation.ts';
import type { LoginTokens } from '../identity.ts';
import type { LoginStart, IdentityProvider, LoggedIn, LoginContext, LoginRefusal } from '../provider.ts';
import type { LoginState } from '../login_state.ts';
import type { Session } from '../session.ts';
import { GATE_PATHS } from '../gate_paths.ts';
import { backchannelLogout } from './backchannel.ts';
import { idTokenProblem, userOf } from './claims.ts';
import { untrusted } from '../oauth/api.ts';

/** Settings of an OpenID Connect gate. */
export interface OidcSettings extends OidcClient {
  readonly scopes: readonly string[];
  /** Further parameters of the authorization URL; protocol parameters cannot be replaced. */
  readonly parameters: Readonly<Record<string, string>>;
}

const OIDC_SCOPES = ['openid', 'email', 'profile'];

interface App {
  readonly client: OidcClient;
  readonly id: string;
}

/** Protocol parameters of the authorization URL, which settings cannot replace. */
const PROTOCOL: ReadonlySet<string> = new Set([
  'client_id',
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
]);

/** OpenID Connect, code flow with PKCE (OpenID Connect Core §3.1, RFC 7636). */
export function oidcProvider(settings: OidcSettings): IdentityProvider {
  const { issuer, clientId, clientSecret } = settings;
  const client = { issuer, clientId, clientSecret };
  const app: App = { client, id: `oidc ${issuer}` };
  const scopes = settings.scopes.length > 0 ? settings.scopes : OIDC_SCOPES;
  const scope = [...new Set(['openid', ...scopes])].join(' ');
  const own = Object.entries(settings.parameters).filter(([name]) => !PROTOCOL.has(name));
  const parameters = Object.fromEntries(own);
  return {
    id: app.id,
    label: issuerName(issuer),
    clientId,
    lists: '',
    callback: GATE_PATHS.callback,
    callbackBy: 'get',
    stateField: 'state',
    begin: ({ nonce, verifier }, state, context) => {
      const redirectUri = context.site.callbackUrl;
      return begin(app, context, {
        does: 'authorize',
        redirectUri,
        scope,
        state,
        nonce,
        verifier,
        parameters,
      });
    },
    finish: (fields, loginState, context) =>
      loginState === null
        ? { refused: 'callback_refused', message: 'The provider cannot start a login.' }
        : finish(app, fields, loginState, context),
    check: (session, context) => check(app, session, context),
    logout: (session, context) => logout(app, session, context),
    other: (path, context) =>
      path === GATE_PATHS.backchannelLogout && context.request.method === 'POST'
        ? backchannelLogout({ client, provider: app.id }, context, () => ask(app, context, { does: 'keys' }))
        : null,
  };
}

function ask({ client }: App, { world }: LoginContext, request: OidcRequest): Conversation<OidcAnswer> {
  return asked({ ask: 'oidc', client, nowMs: world.nowMs(), request });
}

function* begin(app: App, context: LoginContext, request: OidcRequest): Conversation<LoginStart> {
  const answer = yield* ask(app, context, request);
  return 'url' in answer ? { location: answer.url } : refusalOf(answer);
}

function* finish(
  app: App,
  fields: URLSearchParams,
  loginState: LoginState,
  context: LoginContext,
): Conversation<LoggedIn | LoginRefusal> {
  const { client } = app;
  const answer = yield* ask(app, context, {
    does: 'exchange',
    callbackUrl: `${context.site.callbackUrl}?${context.request.query ?? ''}`,
    state: fields.get('state') ?? '',
    nonce: loginState.nonce,
    verifier: loginState.verifier,
  });
  const tokens = 'tokens' in answer ? answer.tokens : null;
  if (!('tokens' in answer) || tokens === null) return refusalOf(answer);
  if (tokens.id === null) return untrusted('it contains no ID token');
  const nowMs = context.world.nowMs();
  const problem = idTokenProblem(tokens.id, tokens.access, client, loginState.nonce, nowMs);
  if (problem !== null) return untrusted(problem);
  const { claims } = tokens.id;
  const { userInfo } = answer;
  if (userInfo !== null && userInfo['sub'] !== claims['sub']) return untrusted(OTHER_USER);
  return {
    user: userOf(claims, userInfo),
    providerSession: typeof claims['sid'] === 'string' ? claims['sid'] : null,
    tokens: keptTokens(tokens, null, nowMs),
  };
}

const OTHER_USER = 'the user-info response is about another user';

/** Checks the user again with the refresh token, or with the access token if there is none. */
function* check(app: App, session: Session, context: LoginContext): Conversation<LoggedIn | LoginRefusal> {
  const { tokens, user, providerSession } = session;
  if (tokens === null) return { refused: 'denied', message: 'The session cannot be renewed.' };
  const subject = user.id;
  const answer = yield* ask(
    app,
    context,
    tokens.refresh === null
      ? { does: 'user_info', accessToken: tokens.access, subject }
      : { does: 'refresh', refreshToken: tokens.refresh, subject },
  );
  if (!('tokens' in answer)) return refusalOf(answer);
  const { userInfo, tokens: fresh } = answer;
  const nowMs = context.world.nowMs();
  const freshId = fresh?.id ?? null;
  if (userInfo !== null && userInfo['sub'] !== subject) return untrusted(OTHER_USER);
  if (fresh !== null && freshId !== null) {
    const problem = idTokenProblem(freshId, fresh.access, app.client, null, nowMs);
    if (problem !== null) return untrusted(problem);
    if (freshId.claims['sub'] !== subject) return untrusted('the new ID token belongs to another user');
  }
  const claims = { sub: subject, name: user.name, ...freshId?.claims };
  const hasSaid = userInfo !== null || freshId !== null;
  return {
    user: hasSaid ? userOf(claims, userInfo) : user,
    providerSession,
    tokens: fresh === null ? tokens : keptTokens(fresh, tokens, nowMs),
  };
}

function* logout(app: App, session: Session, context: LoginContext): Conversation<string | null> {
  const answer = yield* ask(app, context, {
    does: 'logout',
    idToken: session.tokens?.id ?? null,
    returnUrl: `${context.site.origin}${context.site.base}${GATE_PATHS.signedOut}`,
  });
  // The local session has ended, even if the provider cannot be reached.
  return 'url' in answer && answer.url !== '' ? answer.url : null;
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

/** The refusal for a failed question; the detail is for the trace. */
function refusalOf(answer: OidcAnswer): LoginRefusal {
  if (!('failure' in answer)) return untrusted('it does not answer the question');
  const { failure, detail } = answer;
  const facts = { failure, detail };
  switch (failure) {
    case 'denied':
      return { refused: 'denied', message: 'The identity provider refused the login.', detail: facts };
    case 'invalid':
      return { ...untrusted('a check failed'), detail: facts };
    case 'unreachable':
    case 'timeout':
    case 'discovery':
      return {
        refused: 'provider_failed',
        message: 'The identity provider cannot be reached. Please try again later.',
        detail: facts,
      };
  }
}
