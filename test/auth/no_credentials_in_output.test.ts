import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkClients } from '../../src/clients/network.ts';
import { requestLine } from '../../src/cli/request_line.ts';
import { HOME, stage } from './saml/stage.ts';
import { browserOf } from './browser.ts';
import { edgeWith } from './gate_edge.ts';
import { CLIENT, type RealOp, realOp } from './real_op.ts';

const ORIGIN = 'https://app.test';
let op: RealOp;

beforeAll(async () => {
  op = await realOp([`${ORIGIN}/auth/callback`]);
});
afterAll(() => op.close());

/** Values of cookies, and of the parameters that a reader could log in with. */
function secretsOf(hops: readonly { url: string; location: string | null; setCookies: readonly string[] }[]) {
  const secrets = new Set<string>();
  for (const { url, location, setCookies } of hops) {
    for (const line of setCookies) secrets.add(/^[^=]*=([^;]*)/.exec(line)![1]!);
    for (const each of [url, location]) {
      for (const [name, value] of each === null ? [] : new URL(each).searchParams) {
        if (/^(?:code|state|nonce|id_token_hint|SAMLRequest|RelayState)$/.test(name)) secrets.add(value);
      }
    }
  }
  return [...secrets].filter((text) => text.length > 8).map((text) => text.toLowerCase());
}

const PLAIN = { color: false, named: (text: string) => text };

describe('events, traces and lines of the console', () => {
  it('contain no credentials: OpenID Connect', async () => {
    const told: unknown[] = [];
    const edge = edgeWith(
      { oidc: { issuer: op.issuer, ...CLIENT } },
      {
        clients: networkClients(),
        upstream: (request) => {
          const token = request.headers.get('authorization') ?? '';
          return new Response('the app', {
            headers: { 'set-cookie': `app=0123456789abcdef${token.length}` },
          });
        },
        onEvent: (event, explain) => void told.push(event, explain()),
        onCompleted: (summary) =>
          void told.push(summary, requestLine(summary, { time: new Date(0), tookMs: 1 }, PLAIN)),
      },
    );
    op.user = 'alice';
    const browser = browserOf(edge, 'app.test');
    await browser.visit(`${ORIGIN}/`);
    await browser.go(`${ORIGIN}/`, { headers: { authorization: 'Bearer feedbeef00112233' } });
    await browser.go(`${ORIGIN}/auth/logout`);
    const text = JSON.stringify(told).toLowerCase();
    expect(text).toContain('oidc.logged_in');
    const secrets = [
      ...secretsOf(browser.hops),
      'feedbeef00112233',
      '0123456789abcdef',
      CLIENT.client_secret,
    ];
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter((secret) => text.includes(secret.toLowerCase()))).toEqual([]);
  });

  it('contain no credentials: SAML', async () => {
    const all = stage();
    const begun = await all.browser.go(`${HOME}/`, null);
    const location = begun.headers.get('location')!;
    const hops = [{ url: location, location: null, setCookies: begun.headers.getSetCookie() }];
    await all.browser.visit(`${HOME}/deep?a=1`);
    const text = JSON.stringify([all.gate.events, all.gate.explained]).toLowerCase();
    expect(text).toContain('saml.login_started');
    // RelayState is a handle that the cookie's name contains, too; the secret is the cookie's value.
    const handle = new URL(location).searchParams.get('RelayState')!.toLowerCase();
    const secrets = secretsOf(hops).filter((secret) => secret !== handle);
    expect(secrets.length).toBeGreaterThan(2);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/relaystate=[^[&]/);
  });
});

describe('pages of the gate', () => {
  it.each(['/auth/nothing', '/auth/signed_out', '/auth/callback?state=x'])(
    '%s is not framed, cached or leaked by Referer',
    async (path) => {
      const edge = edgeWith({ oidc: { issuer: op.issuer, ...CLIENT } }, { upstream: () => new Response('') });
      const { response } = await edge.handle(
        new Request(ORIGIN + path, { headers: { accept: 'text/html' } }),
      );
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    },
  );
});
