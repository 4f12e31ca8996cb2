import { digest } from '../../crypto/digest.ts';
import { type Conversation, loginDeadline } from '../conversation.ts';
import { GATE_PATHS } from '../gate_paths.ts';
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

/** Settings of an OAuth gate. */
export interface OauthSettings {
  readonly provider: OauthProviderName;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty: the minimal scopes for the provider. */
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly criteria: Criteria;
  /** URL of the development provider, which then replaces the real one; null otherwise. */
  readonly standIn: string | null;
  /** `User-Agent` of requests to the provider; GitHub requires one. */
  readonly userAgent: string;
}

/** The gate's app at its provider, with values derived from the settings. */
interface App {
  readonly settings: OauthSettings;
  readonly preset: OauthPreset;
  readonly scopes: readonly string[];
  /** Maps a URL of the real provider to where it is requested. */
  readonly at: (url: string) => string;
  readonly token: TokenApp;
}

/** Credentials of the managed app at the development provider. */
export const MANAGED_APP = { id: 'managed-app-of-the-service', secret: 'only-for-development' };

/** OAuth 2.0, authorization code grant (RFC 6749 §4.1, RFC 9700); the user comes from the provider's API. */
export function oauthProvider(settings: OauthSettings): IdentityProvider {
  const { provider: name, clientId, clientSecret, standIn } = settings;
  const preset: OauthPreset = OAUTH_PRESETS[name];
  const at = (url: string): string => (standIn === null ? url : developmentUrlOf(standIn, url));
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
    callback: GATE_PATHS.callback,
    callbackBy: 'get',
    stateField: 'state',
    begin: (loginState, state, { site }) => ({
      location: authorizeUrl(app, loginState, state, site.callbackUrl),
    }),
    finish: (fields, loginState, context) =>
      loginState === null
        ? invalidCallback('The provider cannot start a login.')
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
  // Protocol parameters come last, so that settings cannot replace them.
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
    return invalidCallback('The callback contains a parameter twice.');
  const issuer = fields.get('iss');
  // RFC 9207 §2.4 prevents mix-up attacks: the response must come from the provider that was asked.
  if (issuer !== null && preset.issuer !== null && issuer !== preset.issuer)
    return untrusted('it comes from another provider');
  const error = fields.get('error');
  if (error !== null) return denialOf(error);
  const code = fields.get('code');
  if (code === null || code === '') return invalidCallback('The callback contains no code.');
  const parameters = { grant_type: 'authorization_code', code, redirect_uri: site.callbackUrl };
  const pkce = preset.pkce ? { code_verifier: loginState.verifier } : {};
  const leftMs = loginDeadline(world);
  const timing = { nowMs: world.nowMs(), timeoutMs: leftMs() };
  const tokens = yield* requestTokens(token, { ...parameters, ...pkce }, null, timing);
  return isRefusal(tokens) ? tokens : yield* identified({ preset, token, ...app }, tokens, leftMs);
}

/** The user as the provider reports them now; the session ends for another or no longer authorized user. */
function* check(app: App, session: Session, { world }: LoginContext): Conversation<LoggedIn | LoginRefusal> {
  const { tokens: kept, user } = session;
  if (kept === null) return { refused: 'denied', message: 'The session cannot be renewed.' };
  const nowMs = world.nowMs();
  const leftMs = loginDeadline(world);
  let tokens = kept;
  if (kept.refresh !== null && kept.expiresMs !== null && nowMs >= kept.expiresMs) {
    const parameters = { grant_type: 'refresh_token', refresh_token: kept.refresh };
    const share = `${app.token.tokenUrl} ${kept.refresh}`;
    const fresh = yield* requestTokens(app.token, parameters, kept, { nowMs, timeoutMs: leftMs() }, share);
    if (isRefusal(fresh)) return fresh;
    tokens = fresh;
  }
  const answer = yield* identified(app, tokens, leftMs);
  if (isRefusal(answer) || answer.user.id === user.id) return answer;
  return untrusted('the token now belongs to another user');
}

/** The user of the token, if authorized. */
function* identified(
  { settings, scopes, at }: App,
  tokens: LoginTokens,
  leftMs: () => number,
): Conversation<LoggedIn | LoginRefusal> {
  const { provider, clientId, criteria, userAgent } = settings;
  const access: ApiAccess = { accessToken: tokens.access, clientId, at, userAgent, leftMs };
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

/** URL at the development provider for a URL of a real one: its host becomes part of the path. */
function developmentUrlOf(standIn: string, url: string): string {
  return url.replace(/^https:\/\//, `${standIn}/as/`);
}

function invalidCallback(message: string): LoginRefusal {
  return { refused: 'callback_refused', message, detail: { problem: 'malformed' } };
}

/** RFC 6749 §4.1.2.1. The provider's description is not shown, because a crafted link can contain any text. */
function denialOf(error: string): LoginRefusal {
  const detail = { error: error.slice(0, 100) };
  if (error === 'server_error' || error === 'temporarily_unavailable') {
    const message = 'The identity provider is temporarily unavailable. Please try again later.';
    return { refused: 'provider_failed', message, detail };
  }
  return { refused: 'denied', message: 'The identity provider refused the login.', detail };
}
