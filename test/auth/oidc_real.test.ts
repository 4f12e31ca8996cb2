import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkClients } from '../../src/clients/network.ts';
import { browserOf, codeOf } from './browser.ts';
import { edgeWith } from './gate_edge.ts';
import { CLIENT, type RealOp, realOp } from './real_op.ts';

const ORIGIN = 'https://app.test';
let op: RealOp;

beforeAll(async () => {
  op = await realOp([`${ORIGIN}/auth/callback`]);
});
afterAll(() => op.close());

function setUp(options: { clock?: () => number; config?: object } = {}) {
  const seen: Request[] = [];
  const { config = {}, ...more } = options;
  const edge = edgeWith(
    { oidc: { issuer: op.issuer, ...CLIENT, ...config } },
    {
      ...more,
      clients: networkClients(),
      upstream: (request) => {
        seen.push(request);
        return new Response('the app');
      },
    },
  );
  op.user = 'alice';
  return { edge, seen, browser: browserOf(edge, 'app.test') };
}

/** An address whose listener was closed. */
async function deadIssuer(): Promise<string> {
  const other = await realOp([`${ORIGIN}/auth/callback`]);
  await other.close();
  return other.issuer;
}

describe('OpenID Connect against a real provider', () => {
  it('logs in and sends the identity to the upstream', async () => {
    const { browser, seen } = setUp();
    const last = await browser.visit(`${ORIGIN}/deep/page?a=1`);
    expect(last).toMatchObject({ url: `${ORIGIN}/deep/page?a=1`, status: 200, text: 'the app' });
    expect(seen).toHaveLength(1);
    const { headers } = seen[0]!;
    expect(headers.get('service-auth-user-id')).toBe('alice');
    // A name that no field can hold is percent-encoded.
    expect(headers.get('service-auth-user-name')).toBe('Alice %C3%85ngstr%C3%B6m');
    expect(headers.get('service-auth-user-email')).toBe('alice@example.test');
    expect(headers.get('cookie')).toBeNull();
  });

  it('sends no unverified address and no forged field to the upstream', async () => {
    const { browser, seen } = setUp();
    op.user = 'bob';
    await browser.visit(`${ORIGIN}/`);
    await browser.go(`${ORIGIN}/`, { headers: { 'service-auth-user-email': 'ceo@example.test' } });
    expect(seen).toHaveLength(2);
    for (const { headers } of seen) {
      expect(headers.get('service-auth-user-id')).toBe('bob');
      expect(headers.get('service-auth-user-email')).toBeNull();
    }
  });

  it('reports that the user refused', async () => {
    const { browser, seen } = setUp();
    op.user = null;
    const last = await browser.visit(`${ORIGIN}/`);
    expect([last.status, codeOf(last, 'oidc')]).toEqual([403, 'oidc.denied']);
    expect(seen).toEqual([]);
  });

  it('sends PKCE, state and nonce, and asks for the scopes of the configuration', async () => {
    const { browser } = setUp({ config: { scopes: ['email', 'offline_access'] } });
    const begun = await browser.go(`${ORIGIN}/`);
    const query = new URL(begun.location!).searchParams;
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('code_challenge')).toMatch(/^[\w-]{43}$/);
    expect(query.get('nonce')).toMatch(/^[\w-]{22}$/);
    expect(query.get('scope')).toBe('openid email offline_access');
    expect(query.get('redirect_uri')).toBe(`${ORIGIN}/auth/callback`);
  });

  it('logs out here and at the provider', async () => {
    const { browser } = setUp();
    await browser.visit(`${ORIGIN}/`);
    const left = await browser.go(`${ORIGIN}/auth/logout`);
    expect(codeOf(left, 'oidc')).toBe('oidc.logged_out');
    const url = new URL(left.location!);
    expect(url.origin + url.pathname).toBe(`${op.issuer}/session/end`);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${ORIGIN}/auth/signed_out`);
    const after = await browser.go(`${ORIGIN}/`, { headers: { accept: 'application/json' } });
    expect(after.status).toBe(401);
    expect((await browser.go(`${ORIGIN}/auth/signed_out`)).text).toContain('Log in again');
  });

  it('asks for confirmation of logouts from other sites', async () => {
    const { browser } = setUp();
    await browser.visit(`${ORIGIN}/`);
    const asked = await browser.go(`${ORIGIN}/auth/logout`, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([asked.status, asked.setCookies]).toEqual([200, []]);
    expect((await browser.go(`${ORIGIN}/`)).status).toBe(200);
  });

  it('refuses logins with a reason during an outage', async () => {
    const { browser, seen } = setUp({ config: { issuer: await deadIssuer() } });
    const last = await browser.visit(`${ORIGIN}/`);
    expect([last.status, codeOf(last, 'oidc')]).toEqual([502, 'oidc.provider_failed']);
    const { detail } = last.trace.find(({ module }) => module === 'oidc')!;
    expect(detail['failure']).toBe('unreachable');
    expect(seen).toEqual([]);
  });

  it('uses plain http only for a provider on loopback', async () => {
    const { browser } = setUp({ config: { issuer: 'http://provider.example.test' } });
    const last = await browser.visit(`${ORIGIN}/`);
    expect([last.status, codeOf(last, 'oidc')]).toEqual([502, 'oidc.provider_failed']);
    expect(String(last.trace.find(({ module }) => module === 'oidc')!.detail['detail'])).toContain('HTTPS');
  });
});
