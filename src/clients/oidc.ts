import * as openid from 'openid-client';
import type {
  OidcAnswer,
  OidcClient,
  OidcQuestion,
  OidcRequest,
  OidcTokens,
} from '../engine/oidc_question.ts';
import { isTamperProof } from '../net/private_hosts.ts';
import { NoResponse, failureOf } from './oidc_failures.ts';
import { withEachKey, withRepeats } from './oidc_keys.ts';
import type { OidcFetch } from './oidc_fetch.ts';

/** Queries OpenID providers with openid-client: discovery, PKCE, and all token checks of the standards. */
export interface OidcAnswers {
  /** Resolves to the answer or the failure; never rejects. */
  readonly ask: (question: OidcQuestion) => Promise<OidcAnswer>;
}

/** The cached metadata of a provider. */
interface Known {
  readonly metadata: openid.ServerMetadata;
  readonly atMs: number;
  keys: openid.ExportedJWKSCache | undefined;
}

/** Maximum age of metadata. */
const METADATA_MS = 60 * 60_000;
/** For all requests of one question: the delays of a slow provider must not add up. */
const TIMEOUT_MS = 10_000;
/** Tolerated clock difference. */
const TOLERANCE_SECONDS = 30;
/**
 * openid-client fetches keys for an unknown `kid` only if its keys are at least a minute old; this makes them
 * so.
 */
const KEYS_LOOK_SECONDS = 61;

/** Requests whose answer concurrent requests share. */
const SHARED: ReadonlySet<OidcRequest['does']> = new Set(['refresh', 'user_info', 'keys']);

/** Creates a client with its own cache of providers. `timeoutMs`: for each question. */
export function createOidcAnswers(fetch: OidcFetch, timeoutMs = TIMEOUT_MS): OidcAnswers {
  const known = new Map<string, Promise<Known>>();
  const running = new Map<string, Promise<OidcAnswer>>();

  async function providerOf(client: OidcClient, nowMs: number, bounded: OidcFetch): Promise<Known> {
    const found = known.get(client.issuer);
    const fresh = found === undefined ? null : await found.catch(() => null);
    if (fresh !== null && nowMs - fresh.atMs < METADATA_MS && nowMs >= fresh.atMs) return fresh;
    // Concurrent requests wait for the same discovery.
    if (known.get(client.issuer) === found) known.set(client.issuer, discovered(client, nowMs, bounded));
    return known.get(client.issuer)!;
  }

  async function answered(question: OidcQuestion): Promise<OidcAnswer> {
    const { client, nowMs, request } = question;
    const bounded = withRepeats(withDeadline(fetch, timeoutMs));
    let provider: Known;
    try {
      provider = await providerOf(client, nowMs, bounded);
    } catch (error) {
      known.delete(client.issuer);
      return failureOf(error, 'discovery');
    }
    try {
      // Metadata of a provider may have values of any type, which the library takes for granted.
      const config = configured(provider, question, bounded);
      try {
        return await done(config, request);
      } catch (error) {
        return await withEachKey(error, (keys) =>
          done(configured({ ...provider, keys }, question, bounded), request),
        );
      } finally {
        keepKeys(provider, config);
      }
    } catch (error) {
      return failureOf(error, 'invalid');
    }
  }

  return {
    ask: (question) => {
      const { request, client } = question;
      // A provider that rotates refresh tokens treats a second use as theft and ends the session. Concurrent
      // requests therefore share one check. Keys are asked for by unsigned messages, which anyone can send.
      if (!SHARED.has(request.does)) return answered(question);
      const key = JSON.stringify([client.issuer, client.clientId, request]);
      const before = running.get(key);
      if (before !== undefined) return before;
      const begun = answered(question).finally(() => running.delete(key));
      running.set(key, begun);
      return begun;
    },
  };
}

/** A fetch whose requests share one deadline, counted from now. */
function withDeadline(fetch: OidcFetch, timeoutMs: number): OidcFetch {
  const late = AbortSignal.timeout(timeoutMs);
  return (url, { signal, ...options }) =>
    fetch(url, { ...options, signal: signal === undefined ? late : AbortSignal.any([signal, late]) });
}

/** Keeps the key set that a request has fetched, unless a concurrent one has fetched a later one. */
function keepKeys(provider: Known, config: openid.Configuration): void {
  const keys = openid.getJwksCache(config);
  if (keys !== undefined && (provider.keys === undefined || keys.uat > provider.keys.uat))
    provider.keys = keys;
}

async function discovered({ issuer, clientId }: OidcClient, nowMs: number, fetch: OidcFetch): Promise<Known> {
  const config = await openid.discovery(new URL(issuer), clientId, undefined, undefined, {
    [openid.customFetch]: securely(fetch, issuer),
    execute: isPlain(issuer) ? [openid.allowInsecureRequests] : [],
  });
  return { metadata: { ...config.serverMetadata() }, atMs: nowMs, keys: undefined };
}

/** Plain http is allowed only on loopback; elsewhere any network attacker could impersonate the provider. */
function isPlain(issuer: string): boolean {
  const url = new URL(issuer);
  return url.protocol === 'http:' && isTamperProof(url);
}

/**
 * Refuses endpoints of the metadata that a network attacker could impersonate. The library would allow plain http to any
 * host for a provider on loopback.
 */
function securely(fetch: OidcFetch, issuer: string): OidcFetch {
  return async (url, options) => {
    const asked = new URL(url);
    if (!(isPlain(issuer) ? isTamperProof(asked) : asked.protocol === 'https:'))
      throw new Error(`the provider names an endpoint over plain http: ${asked.origin}${asked.pathname}`);
    try {
      return await fetch(url, options);
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') throw error;
      throw new NoResponse('no response', { cause: error });
    }
  };
}

function configured({ metadata, keys }: Known, { client, nowMs }: OidcQuestion, fetch: OidcFetch) {
  const skewSeconds = Math.round((nowMs - Date.now()) / 1_000);
  const auth = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication = auth.includes('client_secret_basic')
    ? openid.ClientSecretBasic(client.clientSecret)
    : openid.ClientSecretPost(client.clientSecret);
  const about = {
    client_secret: client.clientSecret,
    [openid.clockSkew]: skewSeconds,
    [openid.clockTolerance]: TOLERANCE_SECONDS,
  };
  const config = new openid.Configuration({ ...metadata }, client.clientId, about, authentication);
  config[openid.customFetch] = securely(fetch, client.issuer);
  if (isPlain(client.issuer)) openid.allowInsecureRequests(config);
  // Also verifies the signature of ID tokens received over TLS.
  openid.enableNonRepudiationChecks(config);
  if (keys !== undefined) {
    const looksOld = Math.floor(Date.now() / 1_000) + skewSeconds - KEYS_LOOK_SECONDS;
    openid.setJwksCache(config, { ...keys, uat: Math.min(keys.uat, looksOld) });
  }
  return config;
}

async function done(config: openid.Configuration, request: OidcRequest): Promise<OidcAnswer> {
  switch (request.does) {
    case 'authorize':
      return { url: await authorizationUrl(config, request) };
    case 'exchange': {
      const checks = {
        pkceCodeVerifier: request.verifier,
        expectedState: request.state,
        expectedNonce: request.nonce,
        idTokenExpected: true,
      };
      const tokens = await openid.authorizationCodeGrant(config, new URL(request.callbackUrl), checks);
      const subject = tokens.claims()?.sub;
      const userInfo = subject === undefined ? null : await userInfoOf(config, tokens.access_token, subject);
      return { tokens: tokensOf(tokens), userInfo };
    }
    case 'refresh': {
      const tokens = await openid.refreshTokenGrant(config, request.refreshToken);
      return {
        tokens: tokensOf(tokens),
        userInfo: await userInfoOf(config, tokens.access_token, request.subject),
      };
    }
    case 'user_info':
      return { tokens: null, userInfo: await userInfoOf(config, request.accessToken, request.subject) };
    case 'logout':
      return { url: logoutUrl(config, request) };
    case 'keys': {
      const { jwks_uri: url } = config.serverMetadata();
      if (url === undefined) return { failure: 'invalid', detail: 'the provider has no key set' };
      const response = await config[openid.customFetch]!(url, {
        method: 'GET',
        headers: { accept: 'application/json' },
        body: undefined,
        redirect: 'manual',
      });
      if (response.status !== 200)
        return { failure: 'unreachable', detail: `keys: status ${response.status}` };
      return { keySet: new Uint8Array(await response.arrayBuffer()) };
    }
  }
}

async function authorizationUrl(
  config: openid.Configuration,
  request: Extract<OidcRequest, { does: 'authorize' }>,
): Promise<string> {
  const { redirectUri, scope, state, nonce, verifier, parameters } = request;
  const url = openid.buildAuthorizationUrl(config, {
    ...parameters,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return url.href;
}

async function userInfoOf(config: openid.Configuration, accessToken: string, subject: string) {
  if (config.serverMetadata().userinfo_endpoint === undefined) return null;
  return { ...(await openid.fetchUserInfo(config, accessToken, subject)) };
}

function tokensOf(tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers): OidcTokens {
  const claims = tokens.claims();
  const token = tokens.id_token;
  const id = claims === undefined || token === undefined ? null : { token, ...headerOf(token), claims };
  return {
    access: tokens.access_token,
    refresh: tokens.refresh_token ?? null,
    id,
    expiresInSeconds: tokens.expires_in ?? null,
  };
}

/** `alg` and `typ` of a verified token. */
function headerOf(token: string): { readonly algorithm: string; readonly type: unknown } {
  const { alg: algorithm, typ: type } = JSON.parse(
    Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8'),
  ) as { readonly alg: string; readonly typ?: unknown };
  return { algorithm, type };
}

function logoutUrl(config: openid.Configuration, request: Extract<OidcRequest, { does: 'logout' }>): string {
  if (config.serverMetadata().end_session_endpoint === undefined) return '';
  return openid.buildEndSessionUrl(config, {
    post_logout_redirect_uri: request.returnUrl,
    ...(request.idToken === null ? {} : { id_token_hint: request.idToken }),
  }).href;
}
