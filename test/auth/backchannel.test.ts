import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { newSigningKey } from '../../src/crypto/signing_key.ts';
import { browserOf, codeOf } from './browser.ts';
import { useIdOnce } from '../../src/auth/one_time.ts';
import { RIGHT, SECRET, evilOp } from './evil_op.ts';
import { ISSUER, edgeWith } from './gate_edge.ts';

type Json = Record<string, unknown>;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

function setUp() {
  const op = evilOp({ claims: (honest) => ({ ...honest, sid: 'session-7' }) }, Date.now);
  const edge = edgeWith(
    { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
    { clients: { oidc: createOidcAnswers(op.fetch).ask }, upstream: () => new Response('the app') },
  );
  return { op, edge, browser: browserOf(edge, 'app.test') };
}

let serial = 0;
const claims = (changes: Json = {}): Json => {
  const iat = Math.floor(Date.now() / 1_000);
  const honest = { iss: ISSUER, aud: 'edge', iat, jti: `id-${serial++}`, sub: 'alice', sid: 'session-7' };
  return { ...honest, events: { [EVENT]: {} }, ...changes };
};

async function told(at: ReturnType<typeof setUp>, token: string) {
  const hop = await browserOf(at.edge, 'app.test').go('https://app.test/auth/backchannel_logout', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });
  return { status: hop.status, code: codeOf(hop, 'oidc') };
}

async function loggedIn() {
  const at = setUp();
  const begun = await at.browser.go('https://app.test/');
  await at.browser.go(at.op.approve(begun.location!));
  const ask = async () =>
    (await at.browser.go('https://app.test/', { headers: { accept: 'application/json' } })).status;
  expect(await ask()).toBe(200);
  return { ...at, ask };
}

describe('back-channel logout', () => {
  it.each([
    ['of a session', {}],
    ['of all sessions of a user', { sid: undefined }],
  ])('ends the given sessions: %s', async (_name, changes) => {
    const at = await loggedIn();
    expect(await told(at, RIGHT.token(claims(changes), { typ: 'logout+jwt' }))).toEqual({
      status: 200,
      code: 'oidc.provider_logout',
    });
    expect(await at.ask()).toBe(401);
  });

  it.each<[string, Json, Json?]>([
    ['of another issuer', { iss: 'https://evil.test' }],
    ['for another app', { aud: 'another' }],
    ['of yesterday', { iat: Math.floor(Date.now() / 1_000) - 86_400 }],
    ['of tomorrow', { iat: Math.floor(Date.now() / 1_000) + 86_400 }],
    ['that has expired', { exp: 1 }],
    ['without an id', { jti: undefined }],
    ['that is an ID token', { events: undefined, nonce: 'x' }],
    ['with a nonce', { nonce: 'x' }],
    ['about something else', { events: { 'https://x.test/': {} } }],
    ['that names no user and no session', { sub: undefined, sid: undefined }],
    ['of another type', {}, { typ: 'at+jwt' }],
    ['with an unknown key', {}, { kid: 'unknown' }],
  ])('refuses a token %s', async (_name, changes, header) => {
    const at = await loggedIn();
    const got = await told(at, RIGHT.token(claims(changes), { typ: 'logout+jwt', ...header }));
    expect(got).toEqual({ status: 400, code: 'oidc.callback_refused' });
    expect(await at.ask()).toBe(200);
  });

  it('refuses tokens of other signers and repeated tokens', async () => {
    const at = await loggedIn();
    expect((await told(at, newSigningKey('right').token(claims()))).status).toBe(400);
    expect((await told(at, 'not-a-token')).status).toBe(400);
    const token = RIGHT.token(claims({ sid: 'another' }));
    expect((await told(at, token)).status).toBe(200);
    expect((await told(at, token)).status).toBe(400);
    expect(await at.ask()).toBe(200);
  });
});

describe('an unsigned logout token', () => {
  it('refuses a repeated token after more logins than there are remembered states', async () => {
    const at = await loggedIn();
    const token = RIGHT.token(claims(), { typ: 'logout+jwt' });
    expect((await told(at, token)).status).toBe(200);
    const context = { registry: at.edge.runtime.logins, world: { nowMs: Date.now } };
    const life = { sinceMs: Date.now(), untilMs: Date.now() + 600_000 };
    for (let login = 0; login < 50_001; login++)
      useIdOnce(context as never, 'state', String(login), life).next();
    expect((await told(at, token)).status).toBe(400);
  });

  it('shares its request for keys with others, because anyone can send one', async () => {
    const at = await loggedIn();
    const before = at.op.asked.filter((path) => path === '/jwks').length;
    const forger = newSigningKey('right');
    const all = await Promise.all(Array.from({ length: 20 }, () => told(at, forger.token(claims()))));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([400]));
    expect(at.op.asked.filter((path) => path === '/jwks').length - before).toBe(1);
  });

  it('in a form of many fields is not read', async () => {
    const at = setUp();
    const { status } = await browserOf(at.edge, 'app.test').go('https://app.test/auth/backchannel_logout', {
      method: 'POST',
      body: `${'a&'.repeat(2_000)}logout_token=${RIGHT.token(claims())}`,
    });
    expect(status).toBe(400);
  });
});

describe('keys of a provider', () => {
  it('are fetched again immediately after a rotation', async () => {
    let current = RIGHT;
    const next = newSigningKey('next');
    const op = evilOp(
      { keys: () => ({ keys: [current.jwk] }), sign: (payload) => current.token(payload) },
      Date.now,
    );
    const edge = edgeWith(
      { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
      { clients: { oidc: createOidcAnswers(op.fetch).ask }, upstream: () => new Response('the app') },
    );
    const login = async () => {
      const browser = browserOf(edge, 'app.test');
      const begun = await browser.go('https://app.test/');
      return codeOf(await browser.go(op.approve(begun.location!)), 'oidc');
    };
    expect([await login(), await login()]).toEqual(['oidc.logged_in', 'oidc.logged_in']);
    const fetches = () => op.asked.filter((path) => path === '/jwks').length;
    expect(fetches()).toBe(1);
    current = next;
    expect(await login()).toBe('oidc.logged_in');
    expect(fetches()).toBe(2);
  });
});
