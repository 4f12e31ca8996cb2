import { expect, it } from 'vitest';
import { redirectUrl } from '../../src/auth/saml/bindings.ts';
import { logoutRequest } from '../../src/auth/saml/messages.ts';
import { newSigningIdentity } from '../../src/crypto/issue_certificate.ts';
import { stateHub } from '../../src/shared_state/hub.ts';
import { formIn } from '../auth/saml/browser.ts';
import { idpKey } from '../auth/saml/samlify_idp.ts';
import { HOME, IDP, START_MS, stage } from '../auth/saml/stage.ts';
import { nodeOf } from './hub_links.ts';

/** SAML at two nodes: a response and a logout message count once for both. */

const KEY = newSigningIdentity('gate', START_MS);
const login = { sessionKeys: [Buffer.alloc(32, 9).toString('base64')], samlKeys: () => KEY };

async function twoNodes() {
  const hub = stateHub(() => START_MS);
  const links = [nodeOf(hub, 'local', 50), nodeOf(hub, 'local', 50)] as const;
  const [one, two] = links.map(({ state }) => stage({}, { node: { shared: state, login } }));
  for (const [at, each] of [one!, two!].entries()) await links[at]!.state.join(each.gate.edge.runtime.logins);
  return { one: one!, two: two!, links };
}

it('takes the response to a login once, and none while it cannot be checked', async () => {
  const { one, two, links } = await twoNodes();
  // The form that the provider has a browser post, to either node.
  const begun = await one.browser.go(`${HOME}/`, null);
  const form = formIn(await one.browser.go(begun.headers.get('location')!, HOME))!;
  const cookie = await one.browser.jar.getCookieString(`${HOME}/auth/saml/acs`, { sameSiteContext: 'none' });
  const post = (at: typeof one) =>
    at.gate.edge.handle(
      new Request(`${HOME}/auth/saml/acs`, {
        method: 'POST',
        body: form.body,
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      }),
    );
  await links[1].hold(true);
  const unknown = await post(two);
  expect([unknown.response.status, two.gate.codes.at(-1)]).toEqual([502, 'saml.provider_failed']);
  await links[1].hold(false);
  expect((await post(two)).response.status).toBe(302);
  expect((await post(one)).response.status).toBe(400);
  expect(one.gate.explained.at(-1)!.detail).toMatchObject({ problem: 'state_used' });
});

it('takes a logout message once, and none while it cannot be checked', async () => {
  const { one, two, links } = await twoNodes();
  const message = (id: string) =>
    redirectUrl(
      `${HOME}/auth/saml/slo`,
      'SAMLRequest',
      logoutRequest(
        { id, atMs: START_MS, destination: `${HOME}/auth/saml/slo`, issuer: `${IDP}/metadata` },
        {
          nameId: 'ann',
          nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
          sessionIndex: null,
        },
      ),
      'relay',
      idpKey,
    )!;
  const at = (each: typeof one, url: string) => each.browser.go(url, IDP);
  await two.browser.visit(`${HOME}/`);
  expect((await at(one, message('_a'))).status).toBe(302);
  expect((await at(two, message('_a'))).status).toBe(400);
  expect(two.gate.explained.at(-1)!.detail).toMatchObject({ reason: 'replayed' });
  await links[1].hold(true);
  expect((await at(two, message('_b'))).status).toBe(400);
  expect(two.gate.explained.at(-1)!.detail).toMatchObject({ reason: 'replay_unknown' });
  await links[1].hold(false);
  // The session of the user ended at the other node, too.
  await expect.poll(async () => (await two.browser.go(`${HOME}/`, null)).status).toBe(302);
});
