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
