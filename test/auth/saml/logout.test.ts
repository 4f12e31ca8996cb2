import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { newSigningIdentity } from '../../../src/crypto/issue_certificate.ts';
import { postPage, redirectUrl } from '../../../src/auth/saml/bindings.ts';
import { element } from '../../../src/auth/saml/canonical.ts';
import { logoutRequest, logoutResponse } from '../../../src/auth/saml/messages.ts';
import { formIn } from './browser.ts';
import { idpKey } from './samlify_idp.ts';
import { HOME, IDP, START_MS, stage } from './stage.ts';

const SLO = `${HOME}/auth/saml/slo`;
const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const OTHER = newSigningIdentity('other', START_MS);
type Head = Parameters<typeof logoutRequest>[0];
type User = Parameters<typeof logoutRequest>[1];

const message = (head: Partial<Head> = {}, user: Partial<User> = {}) =>
  logoutRequest(
    { id: '_out1', atMs: START_MS, destination: SLO, issuer: `${IDP}/metadata`, ...head },
    { nameId: 'ann', nameIdFormat: PERSISTENT, sessionIndex: 'index-ann', ...user },
  );
const byRedirect = (head: Partial<Head> = {}, user: Partial<User> = {}, key = idpKey): string =>
  redirectUrl(SLO, 'SAMLRequest', message(head, user), 'relay', key)!;
const byPost = (head: Partial<Head> = {}, user: Partial<User> = {}, key = idpKey): string => {
  const { body } = postPage(SLO, 'SAMLRequest', message(head, user), 'relay', key)!;
  return formIn({ text: body } as never)!.body;
};

async function loggedIn() {
  const all = stage();
  await all.browser.visit(`${HOME}/`);
  expect((await all.browser.go(`${HOME}/`, null)).status).toBe(200);
  return all;
}
type Stage = Awaited<ReturnType<typeof loggedIn>>;
const isIn = async (all: Stage): Promise<boolean> => (await all.browser.go(`${HOME}/`, null)).status === 200;

describe('logging out here', () => {
  it('ends the session and sends a signed request that samlify accepts', async () => {
    const all = await loggedIn();
    const kept = await all.browser.jar.getCookieString(HOME);
    const away = await all.browser.go(`${HOME}/auth/logout`, null);
    const url = away.headers.get('location')!;
    expect(url.startsWith(`${IDP}/slo?SAMLRequest=`)).toBe(true);
    const xml = inflateRawSync(
      Buffer.from(new URL(url).searchParams.get('SAMLRequest')!, 'base64'),
    ).toString();
    expect(xml).toContain('>ann<');
    expect(xml).toContain('>index-ann<');
    expect(await all.idp.readLogout(await all.metadata(), url)).toMatchObject({ nameID: 'ann' });
    expect(await isIn(all)).toBe(false);
    // The cookie of before is of no use either.
    const replay = await all.gate.edge.handle(
      new Request(`${HOME}/`, { headers: { cookie: kept, accept: 'text/html' } }),
    );
    expect(replay.response.status).toBe(302);
  });

  it('the signed response of the identity provider leads to a page', async () => {
    const all = await loggedIn();
    const answer = logoutResponse(
      { id: '_r', atMs: START_MS, destination: SLO, issuer: `${IDP}/metadata` },
      '_x',
    );
    const last = await all.browser.visit(redirectUrl(SLO, 'SAMLResponse', answer, null, idpKey)!);
    expect(last).toMatchObject({ url: `${HOME}/auth/signed_out`, status: 200 });
    const forged = await all.browser.go(redirectUrl(SLO, 'SAMLResponse', answer, null, OTHER)!, null);
    expect(forged.status).toBe(400);
  });
});

describe('logging out at the identity provider', () => {
  it.each(['redirect', 'post'] as const)(
    'by %s ends the session and gets a signed response',
    async (binding) => {
      const all = await loggedIn();
      const done =
        binding === 'redirect'
          ? await all.browser.go(byRedirect(), IDP)
          : await all.browser.go(SLO, IDP, byPost());
      const url = done.headers.get('location')!;
      expect(done.status).toBe(302);
      expect(new URL(url).searchParams.get('RelayState')).toBe('relay');
      expect(await all.idp.readLogoutAnswer(await all.metadata(), url)).toMatchObject({
        inResponseTo: '_out1',
      });
      expect(all.gate.codes).toContain('saml.provider_logout');
      expect(await isIn(all)).toBe(false);
    },
  );

  it('without a session index ends all sessions of the user, and of no other', async () => {
    const all = await loggedIn();
    const second = all.newBrowser();
    await second.visit(`${HOME}/`);
    all.idp.state.whims = { user: { nameId: 'bob' } };
    const third = all.newBrowser();
    await third.visit(`${HOME}/`);
    await all.newBrowser().go(byRedirect({}, { sessionIndex: null }), IDP);
    expect(await isIn(all)).toBe(false);
    expect((await second.go(`${HOME}/`, null)).status).toBe(302);
    expect((await third.go(`${HOME}/`, null)).status).toBe(200);
  });

  it('another session index, or that of another user, ends nothing', async () => {
    const all = await loggedIn();
    await all.browser.go(byRedirect({}, { sessionIndex: 'index-none' }), IDP);
    await all.newBrowser().go(byRedirect({ id: '_out2' }, { nameId: 'bob' }), IDP);
    expect(all.gate.codes.slice(-2)).toEqual(['saml.provider_logout', 'saml.provider_logout']);
    expect(await isIn(all)).toBe(true);
  });

  const unsigned = (): string => byRedirect().replace(/&SigAlg=.*$/, '');
  it.each([
    ['another key', () => byRedirect({}, {}, OTHER), 'signature_invalid'],
    ['no signature', unsigned, 'unsigned'],
    ['no algorithm', () => byRedirect().replace(/&SigAlg=[^&]*/, ''), 'unsigned'],
    ['SHA-1', () => byRedirect().replace('more%23rsa-sha256', 'more%23rsa-sha1'), 'signature_algorithm'],
    [
      'another relay state than the signed one',
      () => byRedirect().replace('RelayState=relay', 'RelayState=other'),
      'signature_invalid',
    ],
    ['a parameter twice', () => `${byRedirect()}&RelayState=other`, 'message_repeated'],
    ['both kinds of message', () => `${byRedirect()}&SAMLResponse=x`, 'message_repeated'],
    ['no message', () => SLO, 'message_missing'],
    ['another destination', () => byRedirect({ destination: `${HOME}/` }), 'destination'],
    ['another issuer', () => byRedirect({ issuer: 'https://evil.test' }), 'issuer'],
    ['a time long ago', () => byRedirect({ atMs: START_MS - 11 * 60_000 - 1 }), 'expired'],
    ['a time to come', () => byRedirect({ atMs: START_MS + 60_001 }), 'issue_instant'],
    ['no user', () => byRedirect({}, { nameId: ' ' }), 'name_id_malformed'],
    [
      'another message',
      () =>
        redirectUrl(
          SLO,
          'SAMLRequest',
          element('samlp:AuthnRequest', { ID: '_a', Version: '2.0', IssueInstant: '2026-01-01T00:00:00Z' }),
          null,
          idpKey,
        )!,
      'not_a_logout_message',
    ],
    [
      'what is not deflated',
      () => byRedirect().replace(/SAMLRequest=[^&]*/, 'SAMLRequest=AAAA'),
      'signature_invalid',
    ],
  ])('%s is refused', async (_name, url, reason) => {
    const all = await loggedIn();
    const refused = await all.browser.go(url(), IDP);
    expect(refused.status).toBe(400);
    const event = all.gate.explained.at(-1)!;
    expect(event).toMatchObject({ code: 'saml.callback_refused', detail: { reason } });
    expect(await isIn(all)).toBe(true);
  });

  it.each([
    ['another key', () => byPost({}, {}, OTHER), 'signature_invalid'],
    ['no message', () => 'a=b', 'message_missing'],
    ['two messages', () => `${byPost()}&SAMLRequest=x`, 'message_repeated'],
    [
      'no signature',
      () => {
        const fields = new URLSearchParams(byPost());
        const xml = Buffer.from(fields.get('SAMLRequest')!, 'base64')
          .toString()
          .replace(/<ds:Signature .*<\/ds:Signature>/, '');
        return new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString('base64') }).toString();
      },
      'unsigned',
    ],
  ])('by POST with %s is refused', async (_name, form, reason) => {
    const all = await loggedIn();
    expect((await all.browser.go(SLO, IDP, form())).status).toBe(400);
    expect(all.gate.explained.at(-1)).toMatchObject({ code: 'saml.callback_refused', detail: { reason } });
    expect(await isIn(all)).toBe(true);
  });

  it('is valid once', async () => {
    const all = await loggedIn();
    await all.browser.go(byRedirect(), IDP);
    all.clock.nowMs += 1_000;
    await all.browser.visit(`${HOME}/`);
    expect(await isIn(all)).toBe(true);
    expect((await all.browser.go(byRedirect(), IDP)).status).toBe(400);
    expect(all.gate.explained.at(-1)).toMatchObject({ detail: { reason: 'replayed' } });
    expect(await isIn(all)).toBe(true);
  });
});
