import { createHmac } from 'node:crypto';
import type { CustomFetch } from 'openid-client';
import { longDigest } from '../../src/crypto/digest.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import { ISSUER } from './gate_edge.ts';

type Json = Record<string, unknown>;

/** What an evil provider does otherwise than an honest one. Every part is optional: with none it is honest. */
export interface Evil {
  readonly metadata?: (honest: Json) => unknown;
  readonly metadataStatus?: number;
  readonly keys?: (honest: { keys: Json[] }) => unknown;
  readonly claims?: (honest: Json, at: { now: number; access: string }) => Json;
  readonly header?: (honest: Json) => Json;
  /** Changes the finished token. */
  readonly token?: (token: string) => unknown;
  readonly response?: (honest: Json) => unknown;
  readonly status?: number;
  readonly contentType?: string;
  /** Instead of the whole token response. */
  readonly body?: string;
  readonly userInfo?: (honest: Json) => unknown;
  readonly userInfoStatus?: number;
  /** Query of the callback. */
  readonly callback?: (query: URLSearchParams, other: URLSearchParams) => void;
  /** Fails to answer at this path. */
  readonly silent?: string;
  /** Signs with its current key. */
  /** Gives refresh tokens that count once: a second use ends all (RFC 9700 §4.14.2). */
  readonly rotates?: true;
  /** Whether refreshing is denied. */
  readonly revoked?: () => boolean;
  readonly sign?: (claims: Json) => string;
  readonly signer?: 'other' | 'hmac' | 'none';
}

export interface EvilOp {
  readonly fetch: CustomFetch;
  /** Where the browser goes from an authorization URL. */
  readonly approve: (authorizeUrl: string) => string;
  readonly asked: string[];
}

export const RIGHT = newSigningKey('right');
const OTHER = newSigningKey('right');
export const SECRET = 's3cret-that-is-long-enough-for-hmac-256';

/** An OpenID provider that goes wrong in one way, behind the library's own `fetch`: nothing of the edge is replaced. */
export function evilOp(evil: Evil, nowMs: () => number): EvilOp {
  const codes = new Map<string, URLSearchParams>();
  const asked: string[] = [];
  let refreshToken = '';
  let refreshes = 0;
  const reply = (value: unknown, status = 200, type = 'application/json') =>
    new Response(typeof value === 'string' ? value : JSON.stringify(value), {
      status,
      headers: { 'content-type': type },
    });

  function signed(claims: Json): string {
    if (evil.sign !== undefined) return evil.sign(claims);
    const header = evil.header?.({ alg: 'ES256', kid: 'right', typ: 'JWT' }) ?? {};
    if (evil.signer === 'none' || evil.signer === 'hmac') return unsignedOrHmac(evil.signer, claims);
    return (evil.signer === 'other' ? OTHER : RIGHT).token(claims, header);
  }

  function tokenResponse(body: URLSearchParams): Response {
    if (evil.body !== undefined) return reply(evil.body, evil.status, evil.contentType);
    if (body.get('grant_type') === 'refresh_token') return refreshed(body.get('refresh_token') ?? '');
    const query = codes.get(body.get('code') ?? '');
    codes.delete(body.get('code') ?? '');
    if (query === undefined) return reply({ error: 'invalid_grant' }, 400);
    const now = Math.floor(nowMs() / 1_000);
    const access = 'an-access-token';
    const honest: Json = {
      iss: ISSUER,
      aud: 'edge',
      sub: 'alice',
      iat: now,
      exp: now + 300,
      nonce: query.get('nonce'),
      at_hash: Buffer.from(longDigest('sha256', access).subarray(0, 16)).toString('base64url'),
    };
    const token = signed(evil.claims?.(honest, { now, access }) ?? honest);
    const whole: Json = {
      access_token: access,
      token_type: 'bearer',
      expires_in: 300,
      id_token: evil.token === undefined ? token : evil.token(token),
    };
    if (evil.rotates === true) whole['refresh_token'] = refreshToken = 'refresh-0';
    return reply(evil.response?.(whole) ?? whole, evil.status, evil.contentType);
  }

  function refreshed(token: string): Response {
    if (evil.revoked?.() === true || token !== refreshToken) {
      refreshToken = '';
      return reply({ error: 'invalid_grant' }, 400);
    }
    refreshToken = `refresh-${++refreshes}`;
    const now = Math.floor(nowMs() / 1_000);
    const claims = { iss: ISSUER, aud: 'edge', sub: 'alice', iat: now, exp: now + 300 };
    const fresh = { access_token: `access-${refreshes}`, token_type: 'bearer', expires_in: 300 };
    return reply({ ...fresh, refresh_token: refreshToken, id_token: RIGHT.token(claims) });
  }

  return {
    asked,
    fetch: (url, { body }) => {
      const { pathname: path } = new URL(url);
      asked.push(path);
      if (evil.silent === path)
        return Promise.reject(new TypeError('fetch failed', { cause: refusedDial() }));
      return Promise.resolve(answer(path, new URLSearchParams(body as string | undefined)));
    },
    approve: (authorizeUrl) => {
      const query = new URL(authorizeUrl).searchParams;
      const code = `code-${codes.size}`;
      codes.set(code, query);
      const back = new URL(query.get('redirect_uri')!);
      back.searchParams.set('code', code);
      back.searchParams.set('state', query.get('state')!);
      evil.callback?.(back.searchParams, query);
      return back.href;
    },
  };

  function answer(path: string, body: URLSearchParams): Response {
    const metadata: Json = {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      jwks_uri: `${ISSUER}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
    };
    switch (path) {
      case '/.well-known/openid-configuration':
        return reply(evil.metadata?.(metadata) ?? metadata, evil.metadataStatus);
      case '/jwks': {
        const keys = { keys: [{ ...RIGHT.jwk }] };
        return reply(evil.keys?.(keys) ?? keys);
      }
      case '/token':
        return tokenResponse(body);
      case '/userinfo': {
        const user = { sub: 'alice', name: 'Alice', email: 'alice@example.test', email_verified: true };
        return reply(evil.userInfo?.(user) ?? user, evil.userInfoStatus);
      }
      default:
        return reply('nothing here', 404, 'text/plain');
    }
  }
}

function refusedDial(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

function unsignedOrHmac(kind: 'none' | 'hmac', claims: Json): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(kind === 'none' ? { alg: 'none' } : { alg: 'HS256' })}.${part(claims)}`;
  if (kind === 'none') return `${input}.`;
  return `${input}.${hmacOf(SECRET, input)}`;
}

function hmacOf(key: string, input: string): string {
  return createHmac('sha256', key).update(input).digest('base64url');
}
