import { digest } from '../../crypto/digest.ts';
import { type Conversation } from '../conversation.ts';
import { type LoginTokens, listsDigest } from '../identity.ts';
import type { LoginState } from '../login_state.ts';
import {
  type IdentityProvider,
  type LoggedIn,
  type LoginContext,
  type LoginRefusal,
  isRefusal,
} from '../provider.ts';
import type { Session } from '../session.ts';
import { type ApiAccess, untrusted } from './api.ts';
import { OAUTH_PRESETS, type OauthPreset, type OauthProviderName } from './table.ts';
import { type TokenApp, requestTokens } from './tokens.ts';
import { requestUser } from './user.ts';
import { type Criteria, authorize } from './authorization.ts';

/** A gate of OAuth as configured. */
export interface OauthSettings {
  readonly provider: OauthProviderName;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: those that the provider needs at least. */
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly criteria: Criteria;
  /** URL of the development provider, which then stands for the real one; null otherwise. */
  readonly standIn: string | null;
  /** `User-Agent` of requests to the provider; GitHub wants one. */
  readonly userAgent: string;
}

/** The gate's app at its provider, with what follows from the settings. */
interface App {
  readonly settings: OauthSettings;
  readonly preset: OauthPreset;
  readonly scopes: readonly string[];
  /** Where a URL of the real provider is to be had. */
  readonly at: (url: string) => string;
  readonly token: TokenApp;
}

/** OAuth 2.0, authorization code grant (RFC 6749 §4.1, RFC 9700), and the provider's API for who it is. */
export function oauthProvider(settings: OauthSettings): IdentityProvider {
  const { provider: name, clientId, clientSecret, standIn } = settings;
  const preset: OauthPreset = OAUTH_PRESETS[name];
  const at = (url: string): string => (standIn === null ? url : standInFor(standIn, url));
  const app: App = {
    settings,
    preset,
    scopes: settings.scopes.length > 0 ? settings.scopes : preset.scopes,
    at,
    token: { clientId, clientSecret, tokenUrl: at(preset.tokenUrl) },
  };
  return {
    id: `oauth ${name}`,
    label: preset.label,
    clientId,
    lists: listsOf(settings.criteria),
    callback: 'callback',
    callbackBy: 'get',
    stateField: 'state',
    begin: (loginState, state, { site }) => ({
      location: authorizeUrl(app, loginState, state, site.callbackUrl),
    }),
    finish: (fields, loginState, context) =>
      loginState === null
        ? stray('The provider cannot start a login.')
        : finish(app, fields, loginState, context),
    check: (session, context) => check(app, session, context),
  };
}

function listsOf({ emailAddresses, emailDomains, teams, organizations }: Criteria): string {
  return listsDigest([emailAddresses, emailDomains, teams, organizations]);
}

function authorizeUrl(
  { settings, preset, scopes, at }: App,
  loginState: LoginState,
  state: string,
  callbackUrl: string,
): string {
  const url = new URL(at(preset.authorizeUrl));
  const protocol = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: callbackUrl,
    scope: scopes.join(' '),
    state,
  };
  const pkce = preset.pkce
    ? { code_challenge: challengeOf(loginState.verifier), code_challenge_method: 'S256' }
    : {};
  // What the protocol says comes last: no setting replaces it.
  const all = { ...settings.parameters, ...preset.parameters, ...protocol, ...pkce };
  for (const [key, value] of Object.entries(all)) url.searchParams.set(key, value);
  return url.href;
}

function* finish(
  { preset, token, ...app }: App,
  fields: URLSearchParams,
  loginState: LoginState,
  { site, world }: LoginContext,
): Conversation<LoggedIn | LoginRefusal> {
  if (['code', 'error', 'iss'].some((field) => fields.getAll(field).length > 1))
    return stray('The answer of the provider says one thing twice.');
  const issuer = fields.get('iss');
  // RFC 9207 §2.4: an answer of another provider than the one that was asked.
  if (issuer !== null && preset.issuer !== null && issuer !== preset.issuer)
    return untrusted('it is of another provider');
  const error = fields.get('error');
  if (error !== null) return said(error);
  const code = fields.get('code');
  if (code === null || code === '') return stray('The answer of the provider has no code.');
  const parameters = { grant_type: 'authorization_code', code, redirect_uri: site.callbackUrl };
  const pkce = preset.pkce ? { code_verifier: loginState.verifier } : {};
  const tokens = yield* requestTokens(token, { ...parameters, ...pkce }, null, world.nowMs());
  return isRefusal(tokens) ? tokens : yield* vouched({ preset, token, ...app }, tokens);
}

/** The user as the provider sees them now; another user, or one who is no more let in, is out. */
function* check(app: App, session: Session, { world }: LoginContext): Conversation<LoggedIn | LoginRefusal> {
  const { tokens: kept, user } = session;
  if (kept === null) return { refused: 'denied', message: 'The session cannot be renewed.' };
  const nowMs = world.nowMs();
  let tokens = kept;
  if (kept.refresh !== null && kept.expiresMs !== null && nowMs >= kept.expiresMs) {
    const parameters = { grant_type: 'refresh_token', refresh_token: kept.refresh };
    const share = `${app.token.tokenUrl} ${kept.refresh}`;
    const fresh = yield* requestTokens(app.token, parameters, kept, nowMs, share);
    if (isRefusal(fresh)) return fresh;
    tokens = fresh;
  }
  const answer = yield* vouched(app, tokens);
  if (isRefusal(answer) || answer.user.id === user.id) return answer;
  return untrusted('the token is of another user now');
}

/** Who the token is of, and whether they are let in. */
function* vouched({ settings, scopes, at }: App, tokens: LoginTokens): Conversation<LoggedIn | LoginRefusal> {
  const { provider, clientId, criteria, userAgent } = settings;
  const access: ApiAccess = { accessToken: tokens.access, clientId, at, userAgent };
  const user = yield* requestUser(provider, access, scopes);
  if (isRefusal(user)) return user;
  const allowed = yield* authorize(user, criteria, access);
  if (isRefusal(allowed)) return allowed;
  const { id, name, email, groups } = user;
  return { user: { id, name, email, groups }, providerSession: null, tokens };
}

/** RFC 7636 §4.2. */
function challengeOf(verifier: string): string {
  return Buffer.from(digest('sha256', [verifier], 'base64'), 'base64').toString('base64url');
}

/** The development provider serves every host of the real ones below its own. */
function standInFor(standIn: string, url: string): string {
  return url.replace(/^https:\/\//, `${standIn}/as/`);
}

function stray(message: string): LoginRefusal {
  return { refused: 'callback_refused', message, detail: { problem: 'malformed' } };
}

/** RFC 6749 §4.1.2.1. What the provider writes about it is not shown: anybody can write it into a link. */
function said(error: string): LoginRefusal {
  const detail = { error: error.slice(0, 100) };
  if (error === 'server_error' || error === 'temporarily_unavailable') {
    const message = 'The identity provider cannot log in anybody at the moment. Please try again later.';
    return { refused: 'provider_failed', message, detail };
  }
  return { refused: 'denied', message: 'The identity provider has refused the login.', detail };
}
