import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import { browserOf, codeOf } from './browser.ts';
import { type Evil, SECRET, evilOp } from './evil_op.ts';
import { ISSUER, edgeWith } from './gate_edge.ts';

type Json = Record<string, unknown>;

/** A JSON object without one of its members. */
const lacking =
  (name: string) =>
  (honest: Json): Json =>
    Object.fromEntries(Object.entries(honest).filter(([each]) => each !== name));
const claim = (changes: Json): Evil => ({ claims: (honest) => ({ ...honest, ...changes }) });
const without = (name: string): Evil => ({
  claims: lacking(name),
});
const later = (name: string, seconds: number): Evil => ({
  claims: (honest, { now }) => ({ ...honest, [name]: now + seconds }),
});

/** A login with an evil provider: the last response that the user sees. */
async function loginAt(evil: Evil) {
  const nowMs = () => Date.now();
  const op = evilOp(evil, nowMs);
  const upstream: Request[] = [];
  const edge = edgeWith(
    { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
    {
      clients: { oidc: createOidcAnswers(op.fetch).ask },
      upstream: (request) => {
        upstream.push(request);
        return new Response('the app');
      },
    },
  );
  const browser = browserOf(edge, 'app.test');
  let hop = await browser.go('https://app.test/page');
  if (hop.status === 302 && hop.location!.startsWith(ISSUER))
    hop = await browser.go(op.approve(hop.location!));
  const login = hop;
  // However the login ended: do the cookies give access now?
  const after = await browser.go('https://app.test/page', { headers: { accept: 'application/json' } });
  return { login, after, upstream, code: codeOf(login, 'oidc'), asked: op.asked };
}

const UNTRUSTED = 'oidc.identity_refused';
const FAILED = 'oidc.provider_failed';
const STRAY = 'oidc.callback_refused';

/** A key for the same algorithm, with the given members changed. */
const otherKey = (changes: Json): Json => ({ ...newSigningKey('right').jwk, ...changes });
const rsaKey = (changes: Json): Json => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ format: 'jwk' }),
  kid: 'right',
  ...changes,
});
const keySet = (make: (right: Json) => Json[]): Evil => ({ keys: ({ keys }) => ({ keys: make(keys[0]!) }) });
const withoutAlg = (key: Json): Json => lacking('alg')(key);

/** Misbehaviours of a provider, and why no user gets in. */
const MISBEHAVIOURS: readonly (readonly [string, Evil, string | readonly string[]])[] = [
  ['ID token of another issuer', claim({ iss: 'https://evil.test' }), UNTRUSTED],
  ['issuer with a slash more', claim({ iss: `${ISSUER}/` }), UNTRUSTED],
  ['issuer in other letter case', claim({ iss: ISSUER.toUpperCase() }), UNTRUSTED],
  ['no issuer', without('iss'), UNTRUSTED],
  ['ID token for another app', claim({ aud: 'another' }), UNTRUSTED],
  ['audience that begins with ours', claim({ aud: 'edge2' }), UNTRUSTED],
  ['empty audience', claim({ aud: [] }), UNTRUSTED],
  ['no audience', without('aud'), UNTRUSTED],
  ['several audiences without azp', claim({ aud: ['edge', 'another'] }), UNTRUSTED],
  ['made for another app', claim({ aud: ['edge', 'another'], azp: 'another' }), UNTRUSTED],
  ['azp of another app', claim({ azp: 'another' }), UNTRUSTED],
  ['nonce of another login', claim({ nonce: 'x' }), UNTRUSTED],
  ['no nonce', without('nonce'), UNTRUSTED],
  ['empty nonce', claim({ nonce: '' }), UNTRUSTED],
  ['expired', later('exp', -120), UNTRUSTED],
  ['no expiry', without('exp'), UNTRUSTED],
  ['expiry that is a text', claim({ exp: '99999999999' }), UNTRUSTED],
  ['issued long ago', later('iat', -3_600), UNTRUSTED],
  ['issued in the future', later('iat', 3_600), UNTRUSTED],
  ['no time of issue', without('iat'), UNTRUSTED],
  ['not valid yet', later('nbf', 600), UNTRUSTED],
  ['no user', without('sub'), UNTRUSTED],
  ['empty user', claim({ sub: '' }), UNTRUSTED],
  ['user that is a number', claim({ sub: 7 }), UNTRUSTED],
  ['user of 300 characters', claim({ sub: 'a'.repeat(300) }), UNTRUSTED],
  ['user with a line end', claim({ sub: 'alice\r\nx: y' }), UNTRUSTED],
  ['wrong at_hash', claim({ at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }), UNTRUSTED],
  ['at_hash that is a number', claim({ at_hash: 1 }), UNTRUSTED],
  [
    'another access token beside it',
    { response: (honest) => ({ ...honest, access_token: 'stolen' }) },
    UNTRUSTED,
  ],
  ['signed with another key of the same id', { signer: 'other' }, UNTRUSTED],
  ['unsigned', { signer: 'none' }, UNTRUSTED],
  ['signed with the client secret', { signer: 'hmac' }, UNTRUSTED],
  ['signature cut off', { token: (token) => token.slice(0, token.lastIndexOf('.') + 1) }, UNTRUSTED],
  [
    'signature changed',
    { token: (token) => token.slice(0, -4) + (token.endsWith('AAAA') ? 'BBBB' : 'AAAA') },
    UNTRUSTED,
  ],
  ['claims changed after signing', { token: swapped }, UNTRUSTED],
  ['critical extension', { header: (honest) => ({ ...honest, crit: ['x'], x: 1 }) }, UNTRUSTED],
  ...['logout+jwt', 'application/logout+jwt', 'at+jwt', 'secevent+jwt', 'JWT; x', '', 7, null, ['JWT']].map(
    (typ): (typeof MISBEHAVIOURS)[number] => [
      `token of the type ${JSON.stringify(typ)}`,
      { header: (honest) => ({ ...honest, typ }) },
      UNTRUSTED,
    ],
  ),
  [
    'signed with none of two keys of its id',
    { ...keySet((right) => [right, otherKey({})]), signer: 'other' },
    UNTRUSTED,
  ],
  [
    'signed with the ninth key of its id',
    keySet((right) => [...Array.from({ length: 8 }, () => otherKey({})), right]),
    UNTRUSTED,
  ],
  ['key that the set does not have', { header: (honest) => ({ ...honest, kid: 'unknown' }) }, UNTRUSTED],
  [
    'key in the header of the token',
    { signer: 'other', header: (honest) => ({ ...honest, jwk: { kty: 'EC' } }) },
    UNTRUSTED,
  ],
  [
    'key at an address of its choice',
    { signer: 'other', header: (honest) => ({ ...honest, jku: 'https://evil.test/jwks' }) },
    UNTRUSTED,
  ],
  ['four parts', { token: (token) => `${token}.x` }, UNTRUSTED],
  ['text instead of an ID token', { token: () => 'not-a-token' }, UNTRUSTED],
  ['ID token that is an object', { token: () => ({}) }, UNTRUSTED],
  ['no ID token', { response: lacking('id_token') }, UNTRUSTED],
  ['no access token', { response: lacking('access_token') }, UNTRUSTED],
  ['token of another kind', { response: (honest) => ({ ...honest, token_type: 'mac' }) }, UNTRUSTED],
  ['empty key set', { keys: () => ({ keys: [] }) }, UNTRUSTED],
  ['array instead of a key set', { keys: () => [] }, UNTRUSTED],
  ['key for encryption', { keys: ({ keys }) => ({ keys: [{ ...keys[0], use: 'enc' }] }) }, UNTRUSTED],
  [
    'key set with a secret',
    {
      signer: 'hmac',
      keys: () => ({
        keys: [{ kty: 'oct', k: Buffer.from(SECRET).toString('base64url'), kid: 'right', alg: 'HS256' }],
      }),
    },
    UNTRUSTED,
  ],
  ['token response in HTML', { body: '<html>', contentType: 'text/html' }, UNTRUSTED],
  ['token response that is not JSON', { body: '{', contentType: 'application/json' }, UNTRUSTED],
  ['token response of null', { body: 'null' }, UNTRUSTED],
  ['code refused', { body: '{"error":"invalid_grant"}', status: 400 }, 'oidc.denied'],
  ['app refused', { body: '{"error":"invalid_client"}', status: 401 }, UNTRUSTED],
  ['token endpoint that redirects', { body: '{}', status: 302 }, UNTRUSTED],
  ['token endpoint with an error page', { body: 'oops', status: 500, contentType: 'text/plain' }, FAILED],
  ['token endpoint that is down', { silent: '/token' }, FAILED],
  ['keys that are unavailable', { silent: '/jwks' }, FAILED],
  ['user info that is unavailable', { silent: '/userinfo' }, FAILED],
  ['user info about another user', { userInfo: (honest) => ({ ...honest, sub: 'bob' }) }, UNTRUSTED],
  ['user info without a user', { userInfo: lacking('sub') }, UNTRUSTED],
  ['user info that is a list', { userInfo: () => [] }, UNTRUSTED],
  ['user info refused', { userInfoStatus: 401 }, [UNTRUSTED, 'oidc.denied']],
  [
    'metadata of another issuer',
    { metadata: (honest) => ({ ...honest, issuer: 'https://evil.test' }) },
    FAILED,
  ],
  ['metadata that is not JSON', { metadata: () => '{' }, FAILED],
  ['metadata with 500', { metadataStatus: 500 }, FAILED],
  ['metadata that is unavailable', { silent: '/.well-known/openid-configuration' }, FAILED],
  [
    'plain http for tokens',
    { metadata: (honest) => ({ ...honest, token_endpoint: 'http://login.example.test/token' }) },
    UNTRUSTED,
  ],
  [
    'ways to authenticate that are not a list',
    { metadata: (honest) => ({ ...honest, token_endpoint_auth_methods_supported: 5 }) },
    UNTRUSTED,
  ],
  ['no address of tokens', { metadata: lacking('token_endpoint') }, UNTRUSTED],
  ['no address of keys', { metadata: lacking('jwks_uri') }, UNTRUSTED],
  [
    'answer of another issuer (mix-up)',
    { callback: (query) => query.set('iss', 'https://evil.test') },
    UNTRUSTED,
  ],
  [
    'issuer promised and not sent',
    { metadata: (honest) => ({ ...honest, authorization_response_iss_parameter_supported: true }) },
    UNTRUSTED,
  ],
  [
    'state of another login',
    { callback: (query) => query.set('state', otherState(query.get('state')!)) },
    STRAY,
  ],
  ['no state', { callback: (query) => query.delete('state') }, STRAY],
  ['state twice', { callback: (query) => query.append('state', query.get('state')!) }, STRAY],
  ['code twice', { callback: (query) => query.append('code', 'other') }, UNTRUSTED],
  ['no code', { callback: (query) => query.delete('code') }, UNTRUSTED],
  ['code that was made up', { callback: (query) => query.set('code', 'made-up') }, 'oidc.denied'],
  ['error and code', { callback: (query) => query.set('error', 'access_denied') }, 'oidc.denied'],
  [
    'server error',
    {
      callback: (query) => {
        query.delete('code');
        query.set('error', 'server_error');
      },
    },
    [UNTRUSTED, FAILED],
  ],
];

/** What an honest provider may do. */
const HONEST: readonly (readonly [string, Evil])[] = [
  ['as usual', {}],
  ...[undefined, 'JWT', 'jwt', 'application/JWT', 'Application/jwt'].map((typ): (typeof HONEST)[number] => [
    `ID token of the type ${typ}`,
    { header: (honest) => ({ ...honest, typ }) },
  ]),
  ['a key of another type with the same id', keySet((right) => [rsaKey({}), right])],
  ['a key for encryption with the same id', keySet((right) => [otherKey({ use: 'enc' }), right])],
  ['a key for another algorithm with the same id', keySet((right) => [otherKey({ alg: 'ES384' }), right])],
  ['a second key with the same id', keySet((right) => [otherKey({}), right])],
  ['a second key with the same id, without alg', keySet((right) => [otherKey({}), right].map(withoutAlg))],
  [
    'token without kid, and two keys',
    {
      ...keySet((right) => [right, otherKey({ kid: 'left' })]),
      header: (honest) => ({ ...honest, kid: undefined }),
    },
  ],
];

/** A state that differs in its first character, whichever that is. */
function otherState(state: string): string {
  return `${state.startsWith('x') ? 'y' : 'x'}${state.slice(1)}`;
}

/** The claims of the token with another user, its signature kept. */
function swapped(token: string): string {
  const [head, body, signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(body!, 'base64url').toString()) as Json;
  return `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')}.${signature}`;
}

describe('logins at a malicious provider are refused', () => {
  it.each(MISBEHAVIOURS)('%s', async (_name, evil, expected) => {
    const { login, after, upstream, code } = await loginAt(evil);
    expect(typeof expected === 'string' ? [expected] : expected).toContain(code);
    expect(login.status).toBeGreaterThanOrEqual(400);
    expect(login.text).toContain(code);
    expect(login.setCookies.filter((each) => each.includes('session='))).toEqual([]);
    expect([after.status, codeOf(after, 'oidc')]).toEqual([401, 'oidc.login_needed']);
    expect(upstream).toEqual([]);
  });

  it('the table of attacks is complete', () => {
    expect(MISBEHAVIOURS.length).toBeGreaterThanOrEqual(40);
  });

  it.each(HONEST)('a login at an honest provider succeeds: %s', async (_name, evil) => {
    const { login, after, upstream, asked } = await loginAt(evil);
    expect(codeOf(login, 'oidc')).toBe('oidc.logged_in');
    // A code is sent once, however many keys are tried.
    expect(asked.filter((path) => path === '/token')).toHaveLength(1);
    expect(after.status).toBe(200);
    expect(upstream).toHaveLength(1);
  });
});
