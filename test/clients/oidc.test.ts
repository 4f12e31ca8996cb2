import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';

/** What a client asks for the keys of an issuer whose metadata name this place. */
async function keysOf(issuer: string, jwksUri: string) {
  const asked: string[] = [];
  const { ask } = createOidcAnswers((url) => {
    asked.push(url);
    const metadata = { issuer, jwks_uri: jwksUri, token_endpoint: `${issuer}/token` };
    const value = url.endsWith('/openid-configuration') ? metadata : { keys: [] };
    return Promise.resolve(
      new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } }),
    );
  });
  const answer = await ask({
    client: { issuer, clientId: 'edge', clientSecret: 'a secret' },
    nowMs: Date.now(),
    request: { does: 'keys' },
  } as Parameters<typeof ask>[0]);
  return { answer, asked: asked.filter((url) => !url.endsWith('/openid-configuration')) };
}

it.each([
  ['https://idp.test', 'http://idp.test/jwks'],
  ['https://idp.test', 'http://127.0.0.1:8080/jwks'],
  ['http://127.0.0.1:8080', 'http://idp.test/jwks'],
  ['http://localhost:8080', 'http://localhost.idp.test/jwks'],
])('keys of %s are not read from %s', async (issuer, jwksUri) => {
  const { answer, asked } = await keysOf(issuer, jwksUri);
  expect(asked).toEqual([]);
  expect(answer).toMatchObject({ failure: 'invalid', detail: expect.stringContaining('plain http') });
});

it.each([
  ['https://idp.test', 'https://keys.test/jwks'],
  ['http://127.0.0.1:8080', 'http://localhost:8081/jwks'],
  ['http://localhost:8080', 'https://keys.test/jwks'],
])('keys of %s are read from %s', async (issuer, jwksUri) => {
  const { answer, asked } = await keysOf(issuer, jwksUri);
  expect(asked).toEqual([jwksUri]);
  expect(answer).toHaveProperty('keySet');
});

/** The answer to a check with a refresh token at a provider whose requests for tokens and user info do this first. */
function checkedAt(first: (path: string, signal: AbortSignal) => Promise<void>, timeoutMs?: number) {
  const issuer = 'https://idp.test';
  const answers: Readonly<Record<string, object>> = {
    '/.well-known/openid-configuration': {
      issuer,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
    },
    '/token': { access_token: 'access', token_type: 'bearer' },
    '/userinfo': { sub: 'alice' },
  };
  const { ask } = createOidcAnswers(async (url, { signal }) => {
    const { pathname } = new URL(url);
    if (answers[pathname] === undefined) throw new Error(`asked for ${url}`);
    if (pathname === '/token' || pathname === '/userinfo') await first(pathname, signal!);
    return Response.json(answers[pathname]);
  }, timeoutMs);
  return ask({
    client: { issuer, clientId: 'edge', clientSecret: 'a secret' },
    nowMs: Date.now(),
    request: { does: 'refresh', refreshToken: 'refresh', subject: 'alice' },
  } as Parameters<typeof ask>[0]);
}

// `invalid` would end the session of a user for a failure of the network.
it.each(
  ['/token', '/userinfo'].flatMap((path) =>
    [
      'CERT_HAS_EXPIRED',
      'ETIMEDOUT',
      'HPE_INVALID_CONSTANT',
      'UND_ERR_HEADERS_OVERFLOW',
      'ECONNRESET',
      undefined,
    ].map((code) => ({ path, code })),
  ),
)('a request to $path that fails with $code is unreachable', async ({ path, code }) => {
  const answer = await checkedAt(async (asked) => {
    if (asked === path) throw Object.assign(new Error('the cause'), { code });
  });
  expect(answer).toMatchObject({ failure: 'unreachable', detail: expect.stringContaining('the cause') });
});

it('the delays of a slow provider do not add up', async () => {
  const timeoutMs = 300;
  const slow = checkedAt(async (_path, signal) => {
    await delay(timeoutMs * 0.6);
    signal.throwIfAborted();
  }, timeoutMs);
  expect(await slow).toMatchObject({ failure: 'timeout' });
  expect(await checkedAt(async () => {})).toMatchObject({ userInfo: { sub: 'alice' } });
});
