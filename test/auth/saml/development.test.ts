import { describe, expect, it } from 'vitest';
import { verifySignatures } from '../../../src/clients/saml_signatures.ts';
import { type Misbehaviour, readIdentities, returnedState } from '../../../src/dev_idp/identities.ts';
import { developmentIdp } from '../../../src/dev_idp/idp.ts';
import { createSimulator } from '../../../src/index.ts';
import { browserOf } from './browser.ts';
import { gateOf } from './gate.ts';

const IDP = 'http://127.0.0.1:9400';
const HOME = 'https://app.test';
const START_MS = Date.parse('2026-01-01T00:00:00Z');

const misbehaving = (misbehave: string): Record<string, object> => ({ ann: { groups: ['ops'], misbehave } });

/** A gate and the development provider, their pages carried by a browser that clicks on one name. */
function stage(people: Record<string, object> = { ann: { groups: ['ops'] } }, config: object = {}) {
  let made = 0;
  const { identities, problems } = readIdentities(people);
  if (problems.length > 0) throw new Error(problems[0]!.message);
  const idp = developmentIdp(IDP, identities, () => `secret${made++}`);
  const gate = gateOf(idp.samlMetadata(START_MS), config, {
    clock: () => START_MS,
    clients: { verify: verifySignatures },
  });
  const browser = browserOf(async (request) => {
    const url = new URL(request.url);
    if (url.origin !== IDP) return (await gate.edge.handle(request)).response;
    const target = url.pathname + url.search;
    const ask = (to: string) =>
      idp.handle({ method: request.method, target: to, headers: [], body: '' }, START_MS);
    const page = ask(target);
    const link = /data-identity="ann" href="([^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&');
    const { status, headers, body } = link === undefined ? page : ask(link);
    const pairs = headers.flatMap((name, at) =>
      at % 2 === 0 ? [[name, headers[at + 1]!] as [string, string]] : [],
    );
    return new Response(body, { status, headers: pairs });
  });
  return { idp, gate, browser };
}

describe('the development provider', () => {
  it('logs a chosen user in and out', async () => {
    const { gate, browser } = stage();
    const last = await browser.visit(`${HOME}/deep`);
    expect(last).toMatchObject({ url: `${HOME}/deep`, status: 200, text: 'the app' });
    expect(gate.seen[0]!.headers.get('service-auth-user-email')).toBe('ann@example.test');
    const out = await browser.visit(`${HOME}/auth/logout`);
    expect(out).toMatchObject({ url: `${HOME}/auth/signed_out`, status: 200 });
    expect((await browser.go(`${HOME}/`, null)).status).toBe(302);
  });

  it('shows its identities, and says that there are no passwords', async () => {
    const { browser, idp } = stage({ ann: {}, bob: { name: 'Bob <b>' } });
    const begun = await browser.go(`${HOME}/`, null);
    const { search } = new URL(begun.headers.get('location')!);
    const page = idp.handle({ method: 'GET', target: `/saml/sso${search}`, headers: [], body: '' }, START_MS);
    expect(page.body).toContain('no passwords, choose any identity');
    expect(page.body).toContain('Bob &lt;b&gt;');
  });

  it('can start a login', async () => {
    const { browser, gate } = stage(undefined, { allow_idp_initiated: true });
    const query = new URLSearchParams({
      sp: `${HOME}/auth/saml/metadata`,
      acs: `${HOME}/auth/saml/acs`,
      RelayState: '/inbox',
    });
    expect(await browser.visit(`${IDP}/saml/sso?${query.toString()}`)).toMatchObject({
      url: `${HOME}/inbox`,
      status: 200,
    });
    expect(gate.codes).toEqual(['saml.logged_in', 'saml.session']);
  });

  it.each([
    ['denied', 'saml.denied', 'status'],
    ['expired', 'saml.identity_refused', 'confirmation_expired'],
    ['issued_long_ago', 'saml.identity_refused', 'confirmation_expired'],
    ['issued_in_future', 'saml.identity_refused', 'issue_instant'],
    ['wrong_audience', 'saml.identity_refused', 'audience'],
    ['wrong_issuer', 'saml.identity_refused', 'issuer'],
    ['wrong_nonce', 'saml.identity_refused', 'in_response_to'],
    ['bad_signature', 'saml.identity_refused', 'signature_invalid'],
    ['unsigned', 'saml.identity_refused', 'unsigned'],
    ['wrong_state', 'saml.callback_refused', undefined],
  ] as const satisfies readonly (readonly [Misbehaviour, string, string | undefined])[])(
    'misbehaves on request: %s',
    async (misbehave, code, reason) => {
      const { gate, browser } = stage(misbehaving(misbehave));
      const last = await browser.visit(`${HOME}/`);
      expect(last.status).toBeGreaterThanOrEqual(400);
      expect(gate.explained.at(-1)).toMatchObject({
        code,
        ...(reason === undefined ? {} : { detail: { reason } }),
      });
      expect(gate.seen).toEqual([]);
    },
  );

  it.each(['a', 'x', 'xyz', 'y', ''])(
    'never returns the state %j where a wrong one is asked for',
    (state) => {
      expect(returnedState({ misbehave: 'wrong_state' }, state)).not.toBe(state);
      expect(returnedState({ misbehave: null }, state)).toBe(state);
    },
  );

  it('delays its response on request', () => {
    const { idp } = stage(misbehaving('slow'));
    const query = new URLSearchParams({ sp: 'https://a.test', acs: 'https://a.test/acs', login_as: 'ann' });
    const target = `/saml/sso?${query.toString()}`;
    expect(idp.handle({ method: 'GET', target, headers: [], body: '' }, START_MS).afterMs).toBe(20_000);
  });

  it.each([
    ['no message', ''],
    ['no base64', 'SAMLRequest=%25'],
    ['nothing that inflates', 'SAMLRequest=AAAA'],
    ['no XML', `SAMLRequest=${encodeURIComponent(Buffer.from('<a').toString('base64'))}`],
    ['no request', `SAMLRequest=${encodeURIComponent(Buffer.from('<a/>').toString('base64'))}`],
    ['a script as address', 'sp=a&acs=javascript:alert(1)'],
  ])('answers %s with 400', (_name, query) => {
    const { idp } = stage();
    expect(
      idp.handle({ method: 'GET', target: `/saml/sso?${query}`, headers: [], body: '' }, START_MS).status,
    ).toBe(400);
  });
});

describe('identities of a simulation', () => {
  const simulatorOf = (facts: Readonly<Record<string, unknown>>, config: object = {}) => {
    const { gate } = stage(undefined, config);
    const simulator = createSimulator(gate.edge, { clock: START_MS });
    simulator.identity('ann', facts);
    return simulator;
  };

  it('log in through the gate on the virtual clock', () => {
    const simulator = simulatorOf({ groups: ['ops'] }, { maximum_duration: 60 });
    const first = simulator.send({ path: '/deep', host: 'app.test', as: 'ann' });
    expect([first.status, first.decidedBy.code]).toEqual([200, first.decidedBy.code]);
    expect(first.steps.find(({ module }) => module === 'saml')).toMatchObject({
      code: 'saml.session',
      detail: { user_id: 'ann' },
    });
    simulator.advance('61s');
    const before = simulator.events().length;
    expect(simulator.send({ path: '/deep', host: 'app.test', as: 'ann' }).status).toBe(200);
    expect(simulator.events().length - before).toBe(3);
  });

  it.each([
    ['denied', 403, 'saml.denied'],
    ['bad_signature', 403, 'saml.identity_refused'],
    ['wrong_audience', 403, 'saml.identity_refused'],
    ['expired', 403, 'saml.identity_refused'],
    ['wrong_state', 400, 'saml.callback_refused'],
  ])('with faults (%s) are refused', (misbehave, status, code) => {
    const simulator = simulatorOf({ misbehave });
    const answer = simulator.send({ path: '/', host: 'app.test', as: 'ann' });
    expect([answer.status, answer.steps.find(({ module }) => module === 'saml')?.code]).toEqual([
      status,
      code,
    ]);
  });

  it.each([
    ['who are authorized', { groups: ['ops'] }, {}],
    ['who are in no group', { groups: ['staff'] }, { authorized_groups: ['ops'] }],
    ['of another audience', { misbehave: 'wrong_audience' }, {}],
    ['who say no', { misbehave: 'denied' }, {}],
  ])('%s have the same trace as with the real library and a browser', async (_name, facts, config) => {
    const { gate, browser } = stage({ ann: facts }, config);
    await browser.visit(`${HOME}/deep`);
    const real = gate.explained.map(({ code, detail }) => ({ code, detail }));
    const simulator = createSimulator(gate.edge, { clock: START_MS });
    simulator.identity('ann', facts);
    const seen: object[] = [];
    const last = simulator.send({ path: '/deep', host: 'app.test', as: 'ann' });
    const step = last.steps.find(({ module }) => module === 'saml')!;
    seen.push({ code: step.code, detail: step.detail });
    expect(seen.at(-1)).toEqual(real.at(-1));
    const statuses = simulator
      .events()
      .map(({ object }) => (object as { response_status_code?: number }).response_status_code);
    expect(statuses).toHaveLength(real.length);
  });
});
