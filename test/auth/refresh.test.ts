import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { browserOf } from './browser.ts';
import { type Evil, SECRET, evilOp } from './evil_op.ts';
import { ISSUER, edgeWith } from './gate_edge.ts';

function setUp(evil: Evil = {}) {
  let nowMs = Date.now();
  const op = evilOp({ rotates: true, ...evil }, () => nowMs);
  const edge = edgeWith(
    { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
    {
      clock: () => nowMs,
      clients: { oidc: createOidcAnswers(op.fetch).ask },
      upstream: () => new Response('the app'),
    },
  );
  const browser = browserOf(edge, 'app.test');
  const refreshes = () => op.asked.filter((path) => path === '/token').length - 1;
  return { op, edge, browser, refreshes, pass: (ms: number) => void (nowMs += ms) };
}

async function loggedIn(evil: Evil = {}) {
  const at = setUp(evil);
  const begun = await at.browser.go('https://app.test/');
  await at.browser.go(at.op.approve(begun.location!));
  return at;
}

describe('expiring tokens', () => {
  it('are refreshed after their expiry, not before', async () => {
    const at = await loggedIn();
    at.pass(299_999);
    expect((await at.browser.go('https://app.test/')).status).toBe(200);
    expect(at.refreshes()).toBe(0);
    at.pass(1);
    const refreshed = await at.browser.go('https://app.test/');
    expect(refreshed.status).toBe(200);
    expect(refreshed.setCookies.some((each) => each.startsWith('__Host-service.session='))).toBe(true);
    expect(at.refreshes()).toBe(1);
  });

  it('are refreshed once for concurrent requests and requests with the old cookie', async () => {
    const at = await loggedIn();
    const cookie = await at.browser.jar.getCookieString('https://app.test/');
    at.pass(300_000);
    const ask = async () =>
      (
        await at.edge.handle(
          new Request('https://app.test/x', { headers: { cookie, accept: 'application/json' } }),
        )
      ).response.status;
    // The provider takes a second use of a refresh token for theft: all would be out.
    expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set([200]));
    expect(at.refreshes()).toBe(1);
    at.pass(10_000);
    expect(await ask()).toBe(200);
    expect(at.refreshes()).toBe(1);
  });

  it('of a revoked user are not refreshed, and the session ends', async () => {
    let revoked = false;
    const at = await loggedIn({ revoked: () => revoked });
    revoked = true;
    expect((await at.browser.go('https://app.test/')).status).toBe(200);
    at.pass(300_000);
    const out = await at.browser.go('https://app.test/');
    expect([out.status, out.trace.find(({ module }) => module === 'oidc')!.code]).toEqual([
      403,
      'oidc.denied',
    ]);
    revoked = false;
    const after = await at.browser.go('https://app.test/', { headers: { accept: 'application/json' } });
    expect(after.status).toBe(401);
  });

  it('are refused during an outage and accepted after it', async () => {
    let down = false;
    const op = evilOp({ rotates: true }, () => nowMs);
    let nowMs = Date.now();
    const asker = createOidcAnswers((url, options) =>
      down
        ? Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }))
        : op.fetch(url, options),
    );
    const edge = edgeWith(
      { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
      { clock: () => nowMs, clients: { oidc: asker.ask }, upstream: () => new Response('the app') },
    );
    const browser = browserOf(edge, 'app.test');
    const begun = await browser.go('https://app.test/');
    await browser.go(op.approve(begun.location!));
    nowMs += 300_000;
    down = true;
    const out = await browser.go('https://app.test/');
    expect([out.status, out.trace.find(({ module }) => module === 'oidc')!.code]).toEqual([
      502,
      'oidc.provider_failed',
    ]);
    down = false;
    expect((await browser.go('https://app.test/')).status).toBe(200);
  });
});
