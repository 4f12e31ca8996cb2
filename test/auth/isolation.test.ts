import { cpuMs } from '../cpu_time.ts';
import { seededBytes } from '../random.ts';
import { CookieJar } from 'tough-cookie';
import { describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { gateOf } from './saml/gate.ts';
import { IDP_METADATA } from './saml/idp_metadata.ts';
import { browserOf } from './browser.ts';
import { loginAt } from './evil_oauth.ts';
import { SECRET, evilOp } from './evil_op.ts';
import { ISSUER } from './gate_edge.ts';

/** An edge at two hosts of one site, with one policy gate for each path; both have no `auth_id`. */
function policyEdge(one: object, two: object) {
  const op = evilOp({}, () => Date.now());
  const gate = (config: object) => ({
    type: 'openid-connect',
    config: { issuer_url: ISSUER, client_id: 'edge', client_secret: SECRET, ...config },
  });
  const route = (match: string, config: object) => ({
    match,
    match_type: 'path_prefix',
    traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions: [gate(config)] }] }) },
    backend: { backend_id: 'web' },
  });
  const edge = createEdge(
    {
      edges: {
        https: { app: { hostports: ['a.site.test:443'], routes: [route('/one', one), route('/two', two)] } },
      },
      backends: { web: { static: { address: '127.0.0.1:9' } } },
    },
    { clients: { oidc: createOidcAnswers(op.fetch).ask }, upstream: () => new Response('the app') },
  );
  return { op, edge };
}

describe('a cookie for a whole domain', () => {
  it('does not allow another host to fix the nonce of a login', async () => {
    const { op, edge } = policyEdge({ auth_cookie_domain: 'site.test' }, {});
    const mallory = browserOf(edge, 'a.site.test');
    const begun = await mallory.go('https://a.site.test/one');
    const nonce = begun.setCookies.find((line) => line.includes('nonce='))!;
    expect(nonce).toMatch(/^__Host-service\.nonce=[\w-]{22}; Path=\/; Max-Age=600; HttpOnly; Secure/);
    expect(nonce).not.toContain('Domain');
    // What evil.site.test can set in the victim's browser: any name without the prefix.
    const jar = new CookieJar();
    const secret = /nonce=([\w-]+)/.exec(nonce)![1]!;
    await jar.setCookie(`service.nonce=${secret}; Domain=site.test; Path=/`, 'https://evil.site.test/');
    const victim = browserOf(edge, 'a.site.test', jar);
    const done = await victim.go(op.approve(begun.location!).replace(/\?/, '?'));
    expect(done.status).toBe(400);
    // The session itself is for the domain, as it was configured.
    const again = await mallory.go('https://a.site.test/one');
    const finished = await mallory.go(op.approve(again.location!));
    expect(finished.setCookies[0]).toMatch(/^service\.session=.*; Domain=site\.test; /);
    expect((await mallory.go('https://a.site.test/one')).status).toBe(200);
  });
});

describe('two policy gates on one host without ids', () => {
  it('do not accept each other’s sessions and logins if their apps differ', async () => {
    const { op, edge } = policyEdge({}, { client_id: 'admins' });
    const browser = browserOf(edge, 'a.site.test');
    const begun = await browser.go('https://a.site.test/one');
    expect((await browser.go(op.approve(begun.location!))).status).toBe(302);
    expect((await browser.go('https://a.site.test/one')).status).toBe(200);
    const other = await browser.go('https://a.site.test/two');
    expect(other.status).toBe(302);
    expect(new URL(other.location!).searchParams.get('client_id')).toBe('admins');
  });
});

describe('concurrent checks', () => {
  it('cause one request to an OpenID provider', async () => {
    const op = evilOp({}, () => Date.now());
    const asker = createOidcAnswers(op.fetch);
    const client = { issuer: ISSUER, clientId: 'edge', clientSecret: SECRET };
    const ask = (accessToken: string) =>
      asker.ask({
        ask: 'oidc',
        client,
        nowMs: Date.now(),
        request: { does: 'user_info', accessToken, subject: 'alice' },
      });
    await Promise.all([...Array.from({ length: 20 }, () => ask('one')), ask('two')]);
    expect(op.asked.filter((path) => path === '/userinfo')).toHaveLength(2);
    await ask('one');
    expect(op.asked.filter((path) => path === '/userinfo')).toHaveLength(3);
  });

  it('share API requests with the same token', async () => {
    const { asked } = await loginAt({});
    const shares = asked.slice(1).map(({ url, share }) => [url, share]);
    expect(shares.length).toBeGreaterThan(1);
    for (const [url, share] of shares) expect(share).toBe(`${url} token`);
  });
});

describe('a client with very many cookies', () => {
  it('for pending logins does not slow down the gate', () => {
    const { edge } = gateOf(IDP_METADATA);
    const nonces = seededBytes(16 * 20_000, 1);
    const many = (count: number): string =>
      Array.from(
        { length: count },
        (_, at) => `__Host-service.nonce.${nonces.toString('base64url', 16 * at, 16 * (at + 1))}=x`,
      ).join('; ');
    const tookMs = (count: number): number => {
      const headers = { accept: 'text/html', cookie: many(count) };
      return cpuMs(() => {
        const { exchange } = edge.decide({ url: 'https://app.test/', headers });
        expect(exchange.response?.status).toBe(302);
      });
    };
    tookMs(10);
    expect(tookMs(20_000)).toBeLessThan(1_000);
  });
});
