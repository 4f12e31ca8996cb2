import { describe, expect, it } from 'vitest';
import type { EdgeOptions } from '../../src/edgeproof.ts';
import { HOME, IDP, stage } from './saml/stage.ts';
import { browserOf } from './browser.ts';
import { OIDC, edgeWith, github } from './gate_edge.ts';

type Hands = NonNullable<EdgeOptions['clients']>;

/** Ways in which a hand of the driver can fail besides telling so. */
const FAULTS: readonly (readonly [string, () => never])[] = [
  [
    'throws',
    () => {
      throw new Error('out of order');
    },
  ],
  ['rejects', () => Promise.reject(new Error('out of order')) as never],
  ['gives nothing', () => undefined as never],
  ['gives null', () => null as never],
  ['gives another answer', () => ({ surprise: true }) as never],
];

async function comes(
  clients: Hands,
  module: object,
): Promise<{ statuses: number[]; seen: number; cookies: string[] }> {
  let seen = 0;
  const edge = edgeWith(module, {
    clients,
    upstream: () => {
      seen++;
      return new Response('the app');
    },
  });
  const browser = browserOf(edge, 'app.test');
  const statuses: number[] = [];
  const cookies: string[] = [];
  const go = async (url: string) => {
    const hop = await browser.go(url).catch(() => null);
    statuses.push(hop?.status ?? 0);
    cookies.push(...(hop?.setCookies ?? []));
    return hop;
  };
  const begun = await go('https://app.test/');
  const state =
    begun?.location === null || begun === null
      ? 'none'
      : (new URL(begun.location).searchParams.get('state') ?? '');
  await go(`https://app.test/auth/callback?code=c&state=${encodeURIComponent(state)}`);
  await go('https://app.test/');
  return { statuses, seen, cookies };
}

/** A page, or (without a listener) the fault itself. */
const isRefused = (status: number): boolean => status === 0 || status >= 400;

const isSession = (line: string): boolean => /session(?:\.\d)?=[^;]/.test(line);

describe('an unexpected failure of a client refuses the login', () => {
  it.each(FAULTS)('OAuth: fetch %s', async (_name, fault) => {
    const { statuses, seen, cookies } = await comes({ fetch: fault }, github({ organizations: ['acme'] }));
    expect(statuses[0]).toBe(302);
    expect(isRefused(statuses[1]!)).toBe(true);
    expect([seen, cookies.filter(isSession)]).toEqual([0, []]);
  });

  it.each(FAULTS)('OpenID Connect: the client %s', async (_name, fault) => {
    const { statuses, seen, cookies } = await comes({ oidc: fault }, OIDC);
    expect(statuses.every(isRefused)).toBe(true);
    expect([seen, cookies.filter(isSession)]).toEqual([0, []]);
  });

  it.each(FAULTS)('SAML: the verifier %s', async (_name, fault) => {
    const all = stage({}, { verify: fault });
    const begun = await all.browser.go(`${HOME}/`, null);
    const location = new URL(begun.headers.get('location')!);
    const SAMLResponse = await all.idp.respond(
      await all.metadata(),
      await all.idp.readRequest(await all.metadata(), location.href),
    );
    const form = new URLSearchParams({ SAMLResponse, RelayState: location.searchParams.get('RelayState')! });
    const done = await all.browser.go(`${HOME}/auth/saml/acs`, IDP, form.toString()).catch(() => null);
    expect(done === null || done.status >= 400).toBe(true);
    expect((done?.headers.getSetCookie() ?? []).filter(isSession)).toEqual([]);
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(302);
    expect(all.gate.seen).toEqual([]);
  });
});
