import { type SigningKey, newSigningKey } from '../crypto/signing_key.ts';
import { type FieldList, firstValue } from '../http/fields.ts';
import { type Authorization, approve, readAuthorization } from './authorize.ts';
import type { Identity } from './identities.ts';
import { loginPage } from './login_page.ts';
import { type IdpMemory, TOKEN_SECONDS, byKey, idpMemory, identityOf } from './memory.ts';
import { AUTHORIZE_PATHS, TOKEN_PATHS, apiAnswer, isApi } from './provider_apis.ts';
import { type SamlPart, samlPart } from './saml.ts';
import { exchange, idToken, userInfo } from './tokens.ts';

/** A request to the development provider. */
interface IdpRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: FieldList;
  readonly body: string;
}

export interface IdpResponse {
  readonly status: number;
  readonly headers: FieldList;
  readonly body: string;
  /** Delay of the response. */
  readonly afterMs: number;
}

/**
 * The development identity provider without a socket: OpenID Connect at its root, SAML below `/saml`, the eight
 * OAuth providers below `/as/<host of the provider>`. It behaves the same in the simulator and on loopback.
 */
export interface DevelopmentIdp {
  readonly memory: IdpMemory;
  /** Metadata of its SAML part. */
  readonly samlMetadata: (nowMs: number) => string;
  readonly handle: (request: IdpRequest, nowMs: number) => IdpResponse;
  /** Replaces the identities. */
  readonly replace: (identities: readonly Identity[]) => void;
}

const SLOW_MS = 20_000;

/** The state that request handlers use. */
interface Idp {
  readonly issuer: string;
  readonly memory: IdpMemory;
  /** Created on first use: simulations do not need the keys, and may run thousands of cases. */
  readonly keys: () => { readonly right: SigningKey; readonly wrong: SigningKey };
  readonly saml: SamlPart;
}

/** Creates a provider with the given `issuer`, an origin without a trailing slash. */
export function developmentIdp(
  issuer: string,
  identities: readonly Identity[],
  newSecret: () => string,
): DevelopmentIdp {
  const memory = idpMemory(identities, newSecret);
  const saml = samlPart(issuer, newSecret);
  let made: ReturnType<Idp['keys']> | null = null;
  const keys = () =>
    (made ??= { right: newSigningKey('development'), wrong: newSigningKey('somebody-else') });
  const idp: Idp = { issuer, memory, keys, saml };
  return {
    memory,
    samlMetadata: saml.metadata,
    handle: (request, nowMs) => handle(idp, request, nowMs),
    replace: (next) => void (memory.identities = byKey(next)),
  };
}

function handle(idp: Idp, request: IdpRequest, nowMs: number): IdpResponse {
  const { issuer, keys, memory, saml } = idp;
  const url = new URL(request.target, issuer);
  const { pathname: path, searchParams: query } = url;
  if (path.startsWith('/as/')) return standIn(idp, path.slice('/as/'.length), url, request, nowMs);
  if (path.startsWith('/saml/')) {
    const ofSaml = saml.handle({ method: request.method, url, body: request.body }, memory.identities, nowMs);
    if (ofSaml !== null) return { ...ofSaml.response, afterMs: ofSaml.isSlow ? SLOW_MS : 0 };
  }
  switch (path) {
    case '/.well-known/openid-configuration':
      return json(metadata(issuer));
    case '/jwks':
      return json({ keys: [keys().right.jwk] });
    case '/authorize':
      return authorize(memory, 'an OpenID provider', url, issuer, nowMs);
    case '/token':
      return token(memory, request, nowMs, (answer) => idToken(answer, keys(), nowMs));
    case '/userinfo': {
      const identity = bearer(memory, request);
      return identity === null ? json({ error: 'invalid_token' }, 401) : json(userInfo(identity));
    }
    case '/logout':
      return loggedOut(query);
    default: {
      const { method, body } = request;
      const answer = idp.saml.handle({ method, url, body }, memory.identities, nowMs);
      if (answer === null) return json({ error: 'not_found' }, 404);
      return { ...answer.response, afterMs: answer.isSlow ? SLOW_MS : 0 };
    }
  }
}

/** One of the eight providers, at `<host><path>` of the real one. */
function standIn({ memory }: Idp, place: string, url: URL, request: IdpRequest, nowMs: number): IdpResponse {
  const label = AUTHORIZE_PATHS.get(place);
  if (label !== undefined) return authorize(memory, label, url, `https://${place.split('/')[0]!}`, nowMs);
  if (TOKEN_PATHS.has(place)) return token(memory, request, nowMs, null);
  if (!isApi(place)) return json({ error: 'not_found' }, 404);
  const identity = bearer(memory, request);
  if (identity === null) return json({ message: 'Bad credentials' }, 401);
  const { value, more } = apiAnswer(place, identity, url.searchParams);
  if (!more) return json(value);
  const next = new URL(url);
  next.searchParams.set('page', String(Number(url.searchParams.get('page') ?? 1) + 1));
  return { ...json(value), headers: [...JSON_FIELDS, 'link', `<${next.href}>; rel="next"`] };
}

function authorize(memory: IdpMemory, label: string, url: URL, asIssuer: string, nowMs: number): IdpResponse {
  const asked = readAuthorization(url.searchParams);
  if (typeof asked === 'string') return json({ error: 'invalid_request', error_description: asked }, 400);
  const chosen = url.searchParams.get('login_as');
  if (chosen === null) return choose(memory, label, asked, url);
  const location = approve(memory, asked, chosen, asIssuer, nowMs);
  return location === null ? choose(memory, label, asked, url) : redirect(location);
}

function choose(memory: IdpMemory, label: string, asked: Authorization, url: URL): IdpResponse {
  const linkFor = (key: string): string => {
    const link = new URL(url);
    link.searchParams.set('login_as', key);
    return link.pathname + link.search;
  };
  const body = loginPage(label, asked, memory.identities.values(), linkFor);
  return { status: 200, headers: PAGE_FIELDS, body, afterMs: 0 };
}

function token(
  memory: IdpMemory,
  { body }: IdpRequest,
  nowMs: number,
  sign: ((answer: Parameters<typeof idToken>[0]) => string) | null,
): IdpResponse {
  const answer = exchange(memory, new URLSearchParams(body), nowMs);
  if ('error' in answer) return json({ error: answer.error }, answer.status);
  const { access, refresh, grant, identity } = answer;
  const tokens: Record<string, unknown> = {
    access_token: access,
    token_type: 'bearer',
    expires_in: TOKEN_SECONDS,
    refresh_token: refresh,
    scope: grant.scope,
  };
  if (sign !== null) tokens['id_token'] = sign(answer);
  return { ...json(tokens), afterMs: identity.misbehave === 'slow' ? SLOW_MS : 0 };
}

function bearer(memory: IdpMemory, { headers }: IdpRequest): Identity | null {
  const text = /^bearer (.+)$/i.exec(firstValue(headers, 'authorization') ?? '')?.[1] ?? '';
  return identityOf(memory, memory.accessTokens.get(text));
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['openid', 'email', 'profile', 'offline_access'],
  };
}

const JSON_FIELDS: FieldList = ['content-type', 'application/json', 'cache-control', 'no-store'];
const PAGE_FIELDS: FieldList = [
  'content-type',
  'text/html; charset=utf-8',
  'cache-control',
  'no-store',
  'content-security-policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
];

function json(value: unknown, status = 200): IdpResponse {
  return { status, headers: JSON_FIELDS, body: JSON.stringify(value), afterMs: 0 };
}

function redirect(location: string): IdpResponse {
  return { status: 302, headers: ['location', location, 'cache-control', 'no-store'], body: '', afterMs: 0 };
}

function loggedOut(query: URLSearchParams): IdpResponse {
  const back = query.get('post_logout_redirect_uri');
  if (back !== null && URL.parse(back) !== null) return redirect(back);
  return { status: 200, headers: PAGE_FIELDS, body: '<!DOCTYPE html><p>Logged out.</p>\n', afterMs: 0 };
}
