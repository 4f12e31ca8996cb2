import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge, type Listening } from '../../../src/edgeproof.ts';
import { browserOf } from './browser.ts';
import { gateConfig } from './gate.ts';
import { serveSamlify } from './samlify_idp.ts';

type Party = Awaited<ReturnType<typeof serveSamlify>>;

describe.each(['redirect', 'post'] as const)('a live edge against samlify, requests by %s', (binding) => {
  let party: Party;
  let listening: Listening;
  const seen: string[] = [];
  const codes: string[] = [];
  const upstream = createServer((request, response) => {
    seen.push(
      JSON.stringify([
        request.url,
        request.headers['service-auth-user-id'],
        request.headers['service-auth-user-email'],
        request.headers.cookie ?? null,
      ]),
    );
    response.end('the app');
  });

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    party = await serveSamlify(
      async () => (await fetch(`http://localhost:${listening.port}/auth/saml/metadata`)).text(),
      binding,
    );
    const config = gateConfig(party.metadata, {}, `127.0.0.1:${(upstream.address() as AddressInfo).port}`);
    listening = await createEdge(config, {
      adoptHosts: 'loopback',
      onEvent: (_event, explain) =>
        codes.push(explain().steps.find(({ module }) => module === 'saml')?.code ?? 'none'),
    }).listen();
  });
  afterAll(async () => {
    await listening.close(0);
    await party.close();
    upstream.close();
  });

  it('logs in, sends the identity to the upstream and keeps the session', async () => {
    const browser = browserOf((request) => fetch(request));
    const home = `http://localhost:${listening.port}`;
    const last = await browser.visit(`${home}/deep/page?a=1`);
    expect(party.state.problems).toEqual([]);
    expect(last).toMatchObject({ url: `${home}/deep/page?a=1`, status: 200, text: 'the app' });
    expect(seen).toEqual([JSON.stringify(['/deep/page?a=1', 'ann', 'ann@example.test', null])]);
    await browser.visit(`${home}/again`);
    expect(seen).toHaveLength(2);
    expect(codes.filter((code) => code !== 'saml.answered')).toEqual([
      'saml.login_started',
      // The form was posted by another site without TLS, so this site posts it once more.
      'saml.login_started',
      'saml.logged_in',
      'saml.session',
      'saml.session',
    ]);
    const nobody = await browserOf((request) => fetch(request)).go(`${home}/again`, null);
    expect(nobody.status).toBe(binding === 'redirect' ? 302 : 200);
    expect(seen).toHaveLength(2);
  });

  it('samlify accepts the request', () => {
    const asked = JSON.parse(party.state.requests[0]!) as {
      issuer: string;
      request: Record<string, string>;
      nameIDPolicy: Record<string, string>;
    };
    expect(asked).toMatchObject({
      issuer: `http://localhost:${listening.port}/auth/saml/metadata`,
      request: {
        destination: `${party.base}/sso`,
        assertionConsumerServiceUrl: `http://localhost:${listening.port}/auth/saml/acs`,
      },
      nameIDPolicy: { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' },
    });
  });
});
