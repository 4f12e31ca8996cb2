import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gateConfig } from './gate.ts';
import { HOME, HOUR_MS, IDP, START_MS, stage } from './stage.ts';

const lastCode = ({ gate }: ReturnType<typeof stage>): string | undefined => gate.codes.at(-1);

describe('a login with SAML', () => {
  it('succeeds, and the upstream receives the identity', async () => {
    const all = stage();
    const last = await all.browser.visit(`${HOME}/deep?a=1`);
    expect(last).toMatchObject({ url: `${HOME}/deep?a=1`, status: 200, text: 'the app' });
    const { headers } = all.gate.seen[0]!;
    expect(headers.get('service-auth-user-id')).toBe('ann');
    expect(headers.get('service-auth-user-email')).toBe('ann@example.test');
    expect(headers.get('cookie')).toBeNull();
    expect(all.gate.codes.filter((code) => code !== 'saml.answered')).toEqual([
      'saml.login_started',
      'saml.logged_in',
      'saml.session',
    ]);
  });

  it('two tabs of one browser complete their own logins, each once', async () => {
    const all = stage();
    const tabs = [await all.browser.go(`${HOME}/one`, null), await all.browser.go(`${HOME}/two`, null)];
    const sp = await all.metadata();
    const forms = await Promise.all(
      tabs.map(async (tab) => {
        const url = tab.headers.get('location')!;
        const id = await all.idp.readRequest(sp, url);
        const RelayState = new URL(url).searchParams.get('RelayState')!;
        return new URLSearchParams({ SAMLResponse: await all.idp.respond(sp, id), RelayState }).toString();
      }),
    );
    for (const [at, path] of [
      [1, 'two'],
      [0, 'one'],
    ] as const) {
      const done = await all.browser.go(`${HOME}/auth/saml/acs`, IDP, forms[at]);
      expect(done.headers.get('location')).toBe(`/${path}`);
    }
    const again = await all.browser.go(`${HOME}/auth/saml/acs`, IDP, forms[0]);
    expect(again.status).toBe(400);
    expect(lastCode(all)).toBe('saml.callback_refused');
    const swapped = new URLSearchParams(forms[0]);
    swapped.set('RelayState', new URLSearchParams(forms[1]).get('RelayState')!);
    expect((await all.browser.go(`${HOME}/auth/saml/acs`, IDP, swapped.toString())).status).toBe(400);
  });

  it('RelayState is short enough for every provider; the state is in a cookie', async () => {
    const all = stage();
    const deep = `${HOME}/deep?${'long=1&'.repeat(200)}`;
    const begun = await all.browser.go(deep, null);
    const relayState = new URL(begun.headers.get('location')!).searchParams.get('RelayState')!;
    expect(Buffer.byteLength(relayState)).toBeLessThanOrEqual(80);
    const waits = begun.headers.getSetCookie().filter((line) => line.includes(relayState));
    expect(waits).toHaveLength(1);
    expect(waits[0]!.length).toBeLessThan(4_096);
    expect(waits[0]).toMatch(/; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=None$/);
    const last = await all.browser.visit(deep);
    expect([last.status, last.url]).toEqual([200, deep]);
    expect(all.gate.seen[0]!.headers.get('cookie')).toBeNull();
  });

  it('a browser has at most five pending logins', async () => {
    const all = stage();
    const states: string[] = [];
    for (let count = 0; count < 8; count++) {
      const begun = await all.browser.go(`${HOME}/${count}`, null);
      states.push(new URL(begun.headers.get('location')!).searchParams.get('RelayState')!);
    }
    const answers: number[] = [];
    for (const RelayState of states) {
      const form = new URLSearchParams({ SAMLResponse: 'x', RelayState }).toString();
      answers.push((await all.browser.go(`${HOME}/auth/saml/acs`, IDP, form)).status);
    }
    // The first three are forgotten (400), the others are refused because of their responses (403).
    expect(answers.filter((status) => status === 400)).toHaveLength(3);
    expect(answers.slice(-1)).toEqual([403]);
  });

  it('a response is refused in another browser', async () => {
    const all = stage();
    const begun = await all.browser.go(`${HOME}/`, null);
    const sp = await all.metadata();
    const url = begun.headers.get('location')!;
    const SAMLResponse = await all.idp.respond(sp, await all.idp.readRequest(sp, url));
    const RelayState = new URL(url).searchParams.get('RelayState')!;
    const form = new URLSearchParams({ SAMLResponse, RelayState }).toString();
    expect((await all.newBrowser().go(`${HOME}/auth/saml/acs`, IDP, form)).status).toBe(400);
    expect((await all.browser.go(`${HOME}/auth/saml/acs`, IDP, form)).status).toBe(302);
  });

  it.each([
    ['a failed login', { status: 'Responder' }, 403, 'saml.denied'],
    [
      'an answer that was changed',
      { change: (xml: string) => xml.replace('>ann<', '>eve<') },
      403,
      'saml.identity_refused',
    ],
    [
      'an answer without signature',
      { change: (xml: string) => xml.replace(/<ds:Signature[\s\S]*<\/ds:Signature>/, '') },
      403,
      'saml.identity_refused',
    ],
    ['no answer', { change: () => '' }, 403, 'saml.identity_refused'],
  ])('%s refuses the login', async (_name, whims, status, code) => {
    const all = stage();
    all.idp.state.whims = whims;
    const last = await all.browser.visit(`${HOME}/`);
    expect(last.status).toBe(status);
    expect(last.text).toContain(code);
    expect(lastCode(all)).toBe(code);
    expect(all.gate.seen).toEqual([]);
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(302);
  });

  it('an unavailable verifier refuses the login', async () => {
    const all = stage({}, { broken: 'verifier' });
    const last = await all.browser.visit(`${HOME}/`);
    expect([last.status, lastCode(all)]).toEqual([502, 'saml.provider_failed']);
    expect(all.gate.seen).toEqual([]);
  });

  it('members of an authorized group only', async () => {
    const all = stage({ authorized_groups: ['ops', 'admins'] });
    const out = await all.browser.visit(`${HOME}/`);
    expect([out.status, lastCode(all)]).toEqual([403, 'saml.not_authorized']);
    all.idp.state.whims = { user: { groups: ['staff', 'ops'] } };
    expect(await all.newBrowser().visit(`${HOME}/`)).toMatchObject({ status: 200, text: 'the app' });
  });

  it('requires a new authentication with force_authn', async () => {
    const all = stage({ force_authn: true });
    await all.browser.visit(`${HOME}/`);
    const asked = new URL(all.browser.hops[0]!.headers.get('location')!).searchParams.get('SAMLRequest')!;
    expect(inflateRawSync(Buffer.from(asked, 'base64')).toString()).toContain('ForceAuthn="true"');
    expect(all.gate.seen).toHaveLength(1);
    all.idp.state.whims = { authnMs: START_MS - 61_000 };
    expect((await all.newBrowser().visit(`${HOME}/`)).status).toBe(403);
    expect(lastCode(all)).toBe('saml.identity_refused');
    const any = stage();
    any.idp.state.whims = { authnMs: START_MS - 61_000 };
    expect((await any.browser.visit(`${HOME}/`)).status).toBe(200);
  });

  it('IdP-initiated: only if allowed, once per response, to paths of this origin', async () => {
    const closed = stage();
    const open = stage({ allow_idp_initiated: true });
    const answerOf = async (all: typeof open, RelayState: string): Promise<string> =>
      new URLSearchParams({
        SAMLResponse: await all.idp.respond(await all.metadata(), null),
        RelayState,
      }).toString();
    expect((await closed.browser.go(`${HOME}/auth/saml/acs`, IDP, await answerOf(closed, '/'))).status).toBe(
      400,
    );
    for (const [relay, to] of [
      ['/inbox', '/inbox'],
      [`${HOME}/inbox?a=1`, '/inbox?a=1'],
      ['https://evil.test/', '/'],
      ['//evil.test', '/'],
      [`${HOME}.evil.test/`, '/'],
      [`${HOME}@evil.test/`, '/'],
      ['javascript:alert(1)', '/'],
      ['', '/'],
    ] as const) {
      const form = await answerOf(open, relay);
      const done = await open.newBrowser().go(`${HOME}/auth/saml/acs`, IDP, form);
      expect([relay, done.status, done.headers.get('location')]).toEqual([relay, 302, to]);
      expect((await open.newBrowser().go(`${HOME}/auth/saml/acs`, IDP, form)).status).toBe(403);
      expect(lastCode(open)).toBe('saml.identity_refused');
    }
  });

  it('sessions end by their own limits and by that of the identity provider', async () => {
    const all = stage({ inactivity_timeout: 60, maximum_duration: 7_200 });
    all.idp.state.whims = { sessionUntilMs: START_MS + HOUR_MS };
    await all.browser.visit(`${HOME}/`);
    all.clock.nowMs += 59_000;
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(200);
    for (let at = all.clock.nowMs; at < START_MS + HOUR_MS - 30_000; at += 30_000) {
      all.clock.nowMs = at + 30_000;
      expect((await all.browser.go(`${HOME}/`, null)).status).toBe(
        all.clock.nowMs < START_MS + HOUR_MS ? 200 : 302,
      );
    }
    all.clock.nowMs = START_MS + HOUR_MS;
    expect((await all.browser.go(`${HOME}/`, null)).status).toBe(302);
    expect(all.gate.explained.at(-1)).toMatchObject({
      code: 'saml.login_started',
      detail: { session: 'expired' },
    });
  });
});

describe('used states and assertions', () => {
  it('are remembered across configuration changes', async () => {
    const all = stage({ allow_idp_initiated: true });
    const SAMLResponse = await all.idp.respond(await all.metadata(), null);
    const form = new URLSearchParams({ SAMLResponse, RelayState: '/' }).toString();
    expect((await all.browser.go(`${HOME}/auth/saml/acs`, IDP, form)).status).toBe(302);
    all.gate.edge.swap(gateConfig(all.idp.metadata, { allow_idp_initiated: true, maximum_duration: 60 }));
    expect((await all.newBrowser().go(`${HOME}/auth/saml/acs`, IDP, form)).status).toBe(403);
    expect(all.gate.explained.at(-1)!.detail).toMatchObject({ reason: 'replayed' });
  });
});
