import * as fc from 'fast-check';
import { CookieJar } from 'tough-cookie';
import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import type { EdgeOptions } from '../../src/edgeproof.ts';
import { browserOf, codeOf } from './browser.ts';
import { SECRET, evilOp } from './evil_op.ts';
import { ISSUER, edgeOfRoutes } from './gate_edge.ts';
import { seededBytes, sized } from '../random.ts';

const KEY = seededBytes(32, 1).toString('base64');
const NEXT_KEY = seededBytes(32, 2).toString('base64');
const GATE = { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } };
const SESSION = '__Host-service.session';

/** A node with its own clock, sharing keys and the provider with others. */
function ground(startMs = Date.now()) {
  let nowMs = startMs;
  const op = evilOp({}, () => nowMs);
  const node = (routes: readonly object[], options: EdgeOptions = {}) =>
    edgeOfRoutes(routes, {
      clock: () => nowMs,
      login: { sessionKeys: [KEY] },
      clients: { oidc: createOidcAnswers(op.fetch).ask },
      upstream: () => new Response('the app'),
      ...options,
    });
  return { op, node, pass: (ms: number) => void (nowMs += ms) };
}

const ROOT = [{ match: '/', match_type: 'path_prefix', ...GATE }];

async function loggedIn(at = ground(), edge = at.node(ROOT)) {
  const browser = browserOf(edge, 'app.test');
  const begun = await browser.go('https://app.test/page');
  const callback = at.op.approve(begun.location!);
  const done = await browser.go(callback);
  const cookie = (await browser.jar.getCookies('https://app.test/')).find(
    ({ key }) => key === SESSION,
  )!.value;
  return { ...at, edge, browser, begun, callback, done, cookie };
}

/** What a program with these cookies gets. */
async function ask(edge: ReturnType<typeof edgeOfRoutes>, cookie: string, url = 'https://app.test/') {
  const { response, trace } = await edge.handle(
    new Request(url, { headers: { accept: 'application/json', cookie } }),
  );
  const step = trace.find(({ module }) => module === 'oidc')!;
  return { status: response.status, code: step.code, why: step.detail['session'] };
}

const OUT = (why: string) => ({ status: 401, code: 'oidc.login_needed', why });

describe('a session cookie', () => {
  it('has all protective attributes: host-only, secure, HttpOnly, SameSite', async () => {
    const { done, begun } = await loggedIn();
    const [line] = done.setCookies;
    expect(line).toMatch(/^__Host-service\.session=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(begun.setCookies[0]).toMatch(
      /^__Host-service\.nonce=[\w-]{22}; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('is valid at another node with the same key only', async () => {
    const at = ground();
    const { cookie } = await loggedIn(at);
    expect(await ask(at.node(ROOT), `${SESSION}=${cookie}`)).toMatchObject({ status: 200 });
    const stranger = at.node(ROOT, { login: { sessionKeys: [NEXT_KEY] } });
    expect(await ask(stranger, `${SESSION}=${cookie}`)).toEqual(OUT('unreadable'));
    expect(await ask(at.node(ROOT, { login: {} }), `${SESSION}=${cookie}`)).toEqual(OUT('unreadable'));
  });

  it('survives a key rotation while the old key is listed', async () => {
    const at = ground();
    const { cookie } = await loggedIn(at);
    const rotated = at.node(ROOT, { login: { sessionKeys: [NEXT_KEY, KEY] } });
    expect(await ask(rotated, `${SESSION}=${cookie}`)).toMatchObject({ status: 200 });
    const fresh = await loggedIn(at, rotated);
    expect(
      await ask(at.node(ROOT, { login: { sessionKeys: [NEXT_KEY] } }), `${SESSION}=${fresh.cookie}`),
    ).toMatchObject({ status: 200 });
    expect(await ask(at.node(ROOT, { login: { sessionKeys: [NEXT_KEY] } }), `${SESSION}=${cookie}`)).toEqual(
      OUT('unreadable'),
    );
  });

  it('is invalid at another host or route', async () => {
    const at = ground();
    const routes = [
      { match: '/a', match_type: 'path_prefix', ...GATE },
      { match: '/b', match_type: 'path_prefix', ...GATE },
    ];
    const edge = at.node(routes);
    const browser = browserOf(edge, 'app.test');
    const begun = await browser.go('https://app.test/a');
    const done = await browser.go(at.op.approve(begun.location!));
    expect(codeOf(done, 'oidc')).toBe('oidc.logged_in');
    const cookie = done.setCookies[0]!.split(';')[0]!.split('=')[1]!;
    expect(await ask(edge, `${SESSION}=${cookie}`, 'https://app.test/a')).toMatchObject({ status: 200 });
    expect(await ask(edge, `${SESSION}=${cookie}`, 'https://other.test/a')).toEqual(OUT('unreadable'));
    // The second gate has other cookie names; under those the cookie is not valid either.
    expect(await ask(edge, `${SESSION}=${cookie}`, 'https://app.test/b')).toEqual(OUT('none'));
    const renamed = `__Host-service.b.session=${cookie}`;
    expect(await ask(edge, renamed, 'https://app.test/b')).toEqual(OUT('unreadable'));
  });

  it('is invalid without https and under another name', async () => {
    const { edge, cookie } = await loggedIn();
    expect(await ask(edge, `service.session=${cookie}`, 'http://app.test/')).toEqual(OUT('unreadable'));
    expect(await ask(edge, `__Host-service.nonce=${cookie}`)).toEqual(OUT('none'));
  });

  it('is invalid if truncated, extended, changed or duplicated', async () => {
    const { edge, cookie } = await loggedIn();
    const spoiled = fc.oneof(
      fc.nat(cookie.length - 1).map((length) => cookie.slice(0, length)),
      fc
        .tuple(fc.nat(cookie.length - 1), fc.constantFrom('A', 'B', '_', '-', '.', '=', '~'))
        .map(([at, letter]) => cookie.slice(0, at) + letter + cookie.slice(at + 1)),
      fc.constantFrom('A', '==', '.', '~', '"').map((more) => cookie + more),
      fc.base64String({ maxLength: 400 }),
    );
    await fc.assert(
      fc.asyncProperty(spoiled, async (text) => {
        fc.pre(text !== cookie && text !== '');
        const got = await ask(edge, `${SESSION}=${text}`);
        expect(got.status).toBe(401);
      }),
      sized(300, 8),
    );
    expect(await ask(edge, `${SESSION}=${cookie}; ${SESSION}=${cookie}`)).toEqual(OUT('unreadable'));
    expect(await ask(edge, `${SESSION}=${cookie}; ${SESSION}=x`)).toEqual(OUT('unreadable'));
  });

  it('cannot be fixed: it is replaced at the login', async () => {
    const at = ground();
    const edge = at.node(ROOT);
    const mallory = await loggedIn(at, edge);
    const jar = new CookieJar();
    await jar.setCookie(`${SESSION}=${mallory.cookie}; Path=/; Secure; HttpOnly`, 'https://app.test/');
    const victim = browserOf(edge, 'app.test', jar);
    const begun = await victim.go('https://app.test/auth/authn?redirect_path=/x');
    await victim.go(at.op.approve(begun.location!));
    const after = (await jar.getCookies('https://app.test/')).find(({ key }) => key === SESSION)!.value;
    expect(after).not.toBe(mallory.cookie);
    const ids = edge.runtime.logins.sessions().map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('ends if the clock is set to before its start, but tolerates a second', async () => {
    const at = ground();
    const { edge, cookie } = await loggedIn(at);
    at.pass(-30_000);
    expect(await ask(edge, `${SESSION}=${cookie}`)).toMatchObject({ status: 200 });
    at.pass(-60_000);
    expect(await ask(edge, `${SESSION}=${cookie}`)).toEqual(OUT('ahead'));
    at.pass(90_000);
    expect(await ask(edge, `${SESSION}=${cookie}`)).toMatchObject({ status: 200 });
  });
});

describe('a pending login', () => {
  it('can be completed once', async () => {
    const { browser, callback } = await loggedIn();
    const again = await browser.go(callback);
    expect([again.status, codeOf(again, 'oidc')]).toEqual([400, 'oidc.callback_refused']);
    expect(again.trace.find(({ module }) => module === 'oidc')!.detail['problem']).toBe('state_used');
    // The session continues: a stray link does not log the user out.
    expect((await browser.go('https://app.test/page')).status).toBe(200);
  });

  it('can be completed only by the browser that started it', async () => {
    const at = ground();
    const edge = at.node(ROOT);
    const begun = await browserOf(edge, 'app.test').go('https://app.test/');
    const victim = await browserOf(edge, 'app.test').go(at.op.approve(begun.location!));
    expect(victim.trace.find(({ module }) => module === 'oidc')!.detail['problem']).toBe('other_browser');
    const other = browserOf(edge, 'app.test');
    await other.go('https://app.test/');
    const crossed = await other.go(at.op.approve(begun.location!));
    expect(crossed.trace.find(({ module }) => module === 'oidc')!.detail['problem']).toBe('other_browser');
  });

  it('expires after ten minutes, to the millisecond', async () => {
    for (const [waitMs, code] of [
      [599_999, 'oidc.logged_in'],
      [600_000, 'oidc.callback_refused'],
    ] as const) {
      const at = ground();
      const browser = browserOf(at.node(ROOT), 'app.test');
      const begun = await browser.go('https://app.test/');
      const cookie = await browser.jar.getCookieString('https://app.test/');
      at.pass(waitMs);
      const done = await browser.go(at.op.approve(begun.location!), { headers: { cookie } });
      expect(codeOf(done, 'oidc')).toBe(code);
    }
  });

  it('is independent of another one in a second tab', async () => {
    const at = ground();
    const browser = browserOf(at.node(ROOT), 'app.test');
    const first = await browser.go('https://app.test/one');
    const second = await browser.go('https://app.test/two');
    const two = await browser.go(at.op.approve(second.location!));
    const one = await browser.go(at.op.approve(first.location!));
    expect([one.location, two.location]).toEqual(['https://app.test/one', 'https://app.test/two']);
  });

  it('is bound to its gate and host', async () => {
    const at = ground();
    const edge = at.node([
      { match: '/a', match_type: 'path_prefix', ...GATE },
      { match: '/b', match_type: 'path_prefix', ...GATE },
    ]);
    const browser = browserOf(edge, 'app.test');
    const begun = await browser.go('https://app.test/a');
    const callback = new URL(at.op.approve(begun.location!));
    callback.pathname = '/auth/b/callback';
    expect(
      (await browser.go(callback.href)).trace.find(({ module }) => module === 'oidc')!.detail['problem'],
    ).toBe('state_unknown');
    callback.pathname = '/auth/callback';
    callback.host = 'other.test';
    const other = browserOf(edge, 'other.test');
    expect((await other.go(callback.href)).status).toBe(400);
  });

  it('uses no memory; used states are bounded', async () => {
    const { useOnce } = await import('../../src/auth/registry.ts');
    const edge = ground().node(ROOT);
    const used = new Map<string, number>();
    for (let turn = 0; turn < 75_000; turn++) useOnce(used, `state ${turn}`, 1_000_000, turn);
    expect(used.size).toBeLessThanOrEqual(50_000);
    expect(useOnce(used, 'state 74999', 1_000_000, 75_000)).toBe(false);
    const state = () => edge.runtime.current();
    for (let turn = 0; turn < 10; turn++)
      await edge.handle(new Request('https://app.test/', { headers: { accept: 'text/html' } }));
    expect(state().config).toBeDefined();
    expect(edge.runtime.logins.sessions()).toEqual([]);
  });
});

describe('revocation through the registry', () => {
  it('lists users and sessions, and ends them', async () => {
    const { edge, cookie } = await loggedIn();
    const { logins } = edge.runtime;
    expect(logins.users()).toMatchObject([
      { provider: `oidc ${ISSUER}`, providerUserId: 'alice', email: 'alice@example.test' },
    ]);
    const [session] = logins.sessions();
    expect(session).toMatchObject({ publicUrl: 'https://app.test', userId: logins.users()[0]!.id });
    logins.revokeSession(session!.id, Date.now());
    expect(await ask(edge, `${SESSION}=${cookie}`)).toEqual(OUT('revoked'));
  });

  it('of one session is remembered once, however often its owner logs out', async () => {
    const { edge, cookie } = await loggedIn();
    const ended: string[] = [];
    edge.runtime.logins.onEnd(({ key }) => ended.push(key));
    const [session] = edge.runtime.logins.sessions();
    for (let turn = 0; turn < 5; turn++) {
      const request = new Request('https://app.test/auth/logout', {
        headers: { cookie: `${SESSION}=${cookie}` },
      });
      expect((await edge.handle(request)).response.status).toBe(302);
    }
    expect(ended).toEqual([`session ${session!.id}`]);
  });

  it('of a user is not shortened by a clock that was set back', async () => {
    const { edge, cookie } = await loggedIn();
    const [user] = edge.runtime.logins.users();
    edge.runtime.logins.revokeUser(user!.id, Date.now() + 1);
    edge.runtime.logins.revokeUser(user!.id, 1);
    expect(await ask(edge, `${SESSION}=${cookie}`)).toEqual(OUT('revoked'));
  });

  it('ends every session of a user', async () => {
    const at = ground();
    const edge = at.node(ROOT);
    const [one, two] = [await loggedIn(at, edge), await loggedIn(at, edge)];
    const [user] = edge.runtime.logins.users();
    edge.runtime.logins.revokeUser(user!.id, Date.now() + 1);
    for (const { cookie } of [one, two])
      expect(await ask(edge, `${SESSION}=${cookie}`)).toEqual(OUT('revoked'));
    at.pass(60_000);
    const again = await loggedIn(at, edge);
    expect(await ask(edge, `${SESSION}=${again.cookie}`)).toMatchObject({ status: 200 });
  });
});
