import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import type { FetchRequest } from '../../src/engine/contract.ts';
import type { Answers } from '../../src/engine/questions.ts';
import { loginRegistry } from '../../src/auth/registry.ts';
import { type Hop, browserOf, codeOf } from './browser.ts';
import { type Evil, SECRET, evilOp } from './evil_op.ts';
import { ISSUER, edgeWith, github } from './gate_edge.ts';

const PROGRAM = { headers: { accept: 'application/json' } };
const OIDC = { issuer: ISSUER, client_id: 'edge', client_secret: SECRET };

/** A browser before an OpenID gate whose provider and clock the test moves. */
function oidcStage(evil: Evil, config: object = {}) {
  let nowMs = Date.now();
  const op = evilOp(evil, () => nowMs);
  let silenced: { path: string; make: () => Response } | null = null;
  const asker = createOidcAnswers((url, options) =>
    silenced !== null && new URL(url).pathname === silenced.path
      ? Promise.resolve(silenced.make())
      : op.fetch(url, options),
  );
  const edge = edgeWith(
    { oidc: { ...OIDC, ...config } },
    { clock: () => nowMs, clients: { oidc: asker.ask }, upstream: seeing },
  );
  const seen: Request[] = [];
  function seeing(request: Request): Response {
    seen.push(request);
    return new Response('the app');
  }
  const browser = browserOf(edge, 'app.test');
  return {
    browser,
    edge,
    seen,
    op,
    pass: (ms: number) => void (nowMs += ms),
    answers: (path: string, make: (() => Response) | null) =>
      void (silenced = make === null ? null : { path, make }),
    logIn: async (): Promise<Hop> => {
      const begun = await browser.go('https://app.test/');
      return browser.go(op.approve(begun.location!));
    },
  };
}

/** A browser before a GitHub gate; `said` has the responses of its API, by path. */
function githubStage(app: object = {}, gate: object = {}) {
  let nowMs = Date.now();
  const said = new Map<string, { status?: number; headers?: readonly string[]; body?: unknown }>();
  const honest: Readonly<Record<string, unknown>> = {
    '/login/oauth/access_token': { access_token: 'token', token_type: 'bearer' },
    '/user': { id: 7, login: 'alice', name: 'Alice' },
    '/user/emails': [{ email: 'alice@acme.test', verified: true, primary: true }],
    '/user/orgs': [{ login: 'acme' }],
  };
  const fetch = ({ url }: FetchRequest): Answers['fetch'] => {
    const { pathname } = new URL(url);
    const { status = 200, headers = [], body = honest[pathname] } = said.get(pathname) ?? {};
    const bytes = Buffer.from(JSON.stringify(body));
    return { status, headers, body: bytes, resolvedIp: '', timeMs: 0 };
  };
  const upstream = (): Response => new Response('the app');
  const edge = edgeWith(github(app, gate), { clock: () => nowMs, clients: { fetch }, upstream });
  const browser = browserOf(edge, 'app.test');
  return {
    browser,
    edge,
    said,
    pass: (ms: number) => void (nowMs += ms),
    narrow: (to: object) => edge.swap(edgeWith(github(to, gate)).config),
    logIn: async (): Promise<Hop> => {
      const begun = await browser.go('https://app.test/');
      const state = new URL(begun.location!).searchParams.get('state')!;
      return browser.go(`https://app.test/auth/callback?code=c&state=${encodeURIComponent(state)}`);
    },
  };
}

describe('an identity that exceeds the session cookies', () => {
  it('is refused with a reason, without a redirect loop: a name of 30 kB', async () => {
    const all = oidcStage({ userInfo: (user) => ({ ...user, name: 'N'.repeat(30_000) }) });
    const done = await all.logIn();
    expect([done.status, codeOf(done, 'oidc')]).toEqual([403, 'oidc.session_too_long']);
    expect(done.text).toContain('too long for a session cookie');
    expect(done.text).toContain('oidc.session_too_long');
    expect(done.setCookies.filter((line) => line.includes('session='))).toEqual([]);
    expect(all.edge.runtime.logins.sessions()).toEqual([]);
  });

  it('ends the session at a check', async () => {
    let name = 'Alice';
    const all = oidcStage({ rotates: true, userInfo: (user) => ({ ...user, name }) });
    expect((await all.logIn()).status).toBe(302);
    name = 'N'.repeat(30_000);
    all.pass(300_000);
    const out = await all.browser.go('https://app.test/');
    expect([out.status, codeOf(out, 'oidc')]).toEqual([403, 'oidc.session_too_long']);
    expect((await all.browser.go('https://app.test/', PROGRAM)).status).toBe(401);
  });

  it('loses groups and the ID token, but not the token for checks', async () => {
    const groups = Array.from({ length: 900 }, (_, at) => `a-group-with-a-long-name-${at}`);
    const all = oidcStage(
      {
        rotates: true,
        userInfo: (user) => ({ ...user, groups }),
        claims: (honest) => ({ ...honest, padding: 'x'.repeat(12_000) }),
      },
      { maximum_duration: 600 },
    );
    expect((await all.logIn()).status).toBe(302);
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
    all.pass(300_000);
    const asked = all.op.asked.length;
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
    expect(all.op.asked.length).toBeGreaterThan(asked);
    all.pass(300_000);
    expect((await all.browser.go('https://app.test/', PROGRAM)).status).toBe(401);
  });

  it('also works with a long cookie name', async () => {
    const prefix = 'p'.repeat(1_000);
    const all = oidcStage(
      { userInfo: (user) => ({ ...user, name: 'N'.repeat(8_000) }) },
      { cookie_prefix: prefix },
    );
    const done = await all.logIn();
    expect(done.status).toBe(302);
    const cookies = done.setCookies.map((line) => line.split(';')[0]!);
    expect(cookies.length).toBeGreaterThan(2);
    for (const cookie of cookies) expect(cookie.length).toBeLessThanOrEqual(4_096);
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
  });
});

describe('an authorization list', () => {
  it('that becomes narrower ends the sessions of removed users', async () => {
    const all = githubStage({ email_domains: ['acme.test'] });
    expect((await all.logIn()).status).toBe(302);
    all.narrow({ email_domains: ['acme.test', 'other.test'] });
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
    all.narrow({ email_domains: ['other.test'] });
    const out = await all.browser.go('https://app.test/');
    expect([out.status, codeOf(out, 'oauth')]).toEqual([403, 'oauth.not_authorized']);
    // When the limit is raised again, the ended session stays ended.
    all.narrow({ email_domains: ['acme.test'] });
    expect((await all.browser.go('https://app.test/', PROGRAM)).status).toBe(401);
  });

  it('is checked once after a change, and sessions are refused during an outage', async () => {
    const all = githubStage();
    await all.logIn();
    all.narrow({ organizations: ['acme'] });
    all.said.set('/user/orgs', { status: 429 });
    expect((await all.browser.go('https://app.test/')).status).toBe(502);
    all.said.clear();
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
    all.said.set('/user', { status: 500 });
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
  });
});

describe('a check during an outage keeps the session', () => {
  it.each([
    ['429', { status: 429, body: {} }],
    ['404', { status: 404, body: { message: 'Not Found' } }],
    ['503', { status: 503, body: {} }],
    ['403 when nothing remains', { status: 403, headers: ['x-ratelimit-remaining', '0'], body: {} }],
    ['403 with a time to wait', { status: 403, headers: ['retry-after', '60'], body: {} }],
    [
      '403 with that message',
      { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } },
    ],
  ] as const)('GitHub: %s', async (_name, answer) => {
    const all = githubStage({ organizations: ['acme'] }, { auth_check_interval: 60 });
    await all.logIn();
    for (const path of ['/user', '/user/orgs', '/user/emails']) {
      all.pass(60_000);
      all.said.set(path, answer);
      const out = await all.browser.go('https://app.test/');
      expect([path, out.status, codeOf(out, 'oauth')]).toEqual([path, 502, 'oauth.provider_failed']);
      all.said.clear();
      expect((await all.browser.go('https://app.test/')).status).toBe(200);
    }
  });

  it('except that a 403 for missing permission ends it', async () => {
    const all = githubStage({}, { auth_check_interval: 60 });
    await all.logIn();
    all.pass(60_000);
    all.said.set('/user', {
      status: 403,
      headers: ['x-ratelimit-remaining', '4999'],
      body: { message: 'Forbidden' },
    });
    expect((await all.browser.go('https://app.test/')).status).toBe(403);
    all.said.clear();
    expect((await all.browser.go('https://app.test/', PROGRAM)).status).toBe(401);
  });

  const json = { 'content-type': 'application/json' };
  it.each([
    ['/token', 429, {}],
    ['/token', 404, {}],
    ['/token', 503, {}],
    ['/userinfo', 429, {}],
    ['/userinfo', 404, {}],
    ['/userinfo', 429, { 'www-authenticate': 'Bearer error="slow_down"' }],
    ['/userinfo', 403, { 'retry-after': '30' }],
  ])('OpenID Connect: %s answers %d with %j', async (path, status, headers) => {
    const all = oidcStage({ rotates: true });
    await all.logIn();
    all.pass(300_000);
    all.answers(
      path,
      () => new Response('{"error":"slow_down"}', { status, headers: { ...json, ...headers } }),
    );
    const out = await all.browser.go('https://app.test/');
    expect([out.status, codeOf(out, 'oidc')]).toEqual([502, 'oidc.provider_failed']);
    if (path === '/userinfo') return;
    all.answers(path, null);
    expect((await all.browser.go('https://app.test/')).status).toBe(200);
  });
});

describe('a verified address', () => {
  const T = { email_verified: true };
  const F = { email_verified: false };
  it.each([
    ['the token’s, verified by it', { email: 'a@x.test', ...T }, {}, 'a@x.test'],
    ['the token’s, verified by user-info alone', { email: 'a@x.test' }, T, null],
    ['user-info’s, verified by the token alone', T, { email: 'b@x.test' }, null],
    [
      'user-info’s, another one verified by the token',
      { email: 'a@x.test', ...T },
      { email: 'b@x.test' },
      null,
    ],
    ['the same of both, verified by one', { email: 'A@x.test', ...T }, { email: 'a@X.test' }, 'a@x.test'],
    ['the same of both, denied by one', { email: 'a@x.test', ...T }, { email: 'a@x.test', ...F }, null],
    ['user-info’s, verified by it', { email: 'a@x.test', ...F }, { email: 'b@x.test', ...T }, 'b@x.test'],
  ])('depends on the response that contains it: %s', async (_name, token, info, wanted) => {
    const all = oidcStage({
      claims: (honest) => ({ ...honest, ...token }),
      userInfo: () => ({ sub: 'alice', name: 'Alice', ...info }),
    });
    expect((await all.logIn()).status).toBe(302);
    await all.browser.go('https://app.test/');
    expect(all.seen[0]!.headers.get('service-auth-user-email')).toBe(wanted);
  });
});

describe('logging out', () => {
  it.each([
    ['cross-site', 200],
    ['same-site', 200],
    ['something-new', 200],
    ['same-origin', 302],
    ['none', 302],
  ])('asks for confirmation if another origin initiated the request: %s', async (site, status) => {
    const all = oidcStage({});
    await all.logIn();
    const headers = { 'sec-fetch-site': site };
    const out = await all.browser.go('https://app.test/auth/logout', { headers });
    expect(out.status).toBe(status);
    const after = await all.browser.go('https://app.test/', PROGRAM);
    expect(after.status).toBe(status === 200 ? 200 : 401);
  });
});

describe('revocations', () => {
  it('notify one by one, and are restored without notification', () => {
    const told: string[] = [];
    const registry = loginRegistry();
    registry.onEnd(({ key, ms }) => void told.push(`${key} ${ms}`));
    registry.revokeSession('one', 1);
    registry.revokeUser('ann', 2);
    registry.revokeAt('oidc x', { session: 'sid' }, 3);
    registry.restore([{ key: 'session two', ms: 4 }], 0);
    expect(told).toEqual(['session one 1', 'user ann 2', 'at oidc x sid 3']);
  });
});
