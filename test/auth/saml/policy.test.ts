import { describe, expect, it } from 'vitest';
import { verifySignatures } from '../../../src/clients/saml_signatures.ts';
import type { Answers } from '../../../src/engine/questions.ts';
import { createEdge } from '../../../src/edgeproof.ts';
import { browserOf } from './browser.ts';
import { appConfig } from './gate.ts';
import { formOf, samlifyIdp } from './samlify_idp.ts';

const IDP = 'https://idp.example.test';
const HOME = 'https://app.test';
const START_MS = Date.parse('2026-01-01T00:00:00Z');

/** A gate that is an action of a policy; `fetch` answers for the address of the metadata. */
function stage(config: object, fetch?: (url: string) => Answers['fetch']) {
  const clock = { nowMs: START_MS };
  const idp = samlifyIdp(IDP, () => clock.nowMs);
  const given = 'idp_metadata_url' in config ? {} : { idp_metadata: idp.metadata };
  const seen: Request[] = [];
  const codes: string[] = [];
  const fetched: string[] = [];
  const policy = {
    on_http_request: [{ actions: [{ type: 'saml', config: { ...given, ...config } }] }],
  };
  const edge = createEdge(appConfig({ traffic_policy: { value: JSON.stringify(policy) } }), {
    clock: () => clock.nowMs,
    clients: {
      verify: verifySignatures,
      fetch: (request) => {
        fetched.push(request.url);
        return (fetch ?? (() => ({ failure: 'connect', detail: 'nobody' }) as const))(request.url);
      },
    },
    upstream: (request) => {
      seen.push(request);
      return new Response('the app');
    },
    onEvent: (_event, explain) => {
      const inner = explain().steps.flatMap((step) => JSON.stringify(step).match(/saml\.\w+/)?.[0] ?? []);
      codes.push(inner[0] ?? 'none');
    },
  });
  const browser = () =>
    browserOf(async (request) => {
      const url = new URL(request.url);
      if (url.origin !== IDP) return (await edge.handle(request)).response;
      const sp = await (await edge.handle(new Request(`${HOME}/service/saml/metadata`))).response.text();
      const id = await idp.readRequest(sp, request.url);
      const page = formOf(
        `${HOME}/service/saml/acs`,
        await idp.respond(sp, id),
        url.searchParams.get('RelayState'),
      );
      return new Response(page, { headers: { 'content-type': 'text/html' } });
    });
  return { clock, idp, edge, seen, codes, fetched, browser };
}

const good = (metadata: string): Answers['fetch'] => ({
  status: 200,
  headers: [],
  body: new TextEncoder().encode(metadata),
  resolvedIp: '',
  timeMs: 1,
});

describe('the action saml of a policy', () => {
  it('logs in and sends the identity to the upstream', async () => {
    const { browser, seen } = stage({});
    const last = await browser().visit(`${HOME}/deep`);
    expect(last).toMatchObject({ url: `${HOME}/deep`, status: 200, text: 'the app' });
    expect(seen[0]!.headers.get('service-auth-user-id')).toBe('ann');
  });

  it('only accepts members of an authorized group', async () => {
    const { browser, seen } = stage({ authorized_groups: ['admins'] });
    expect((await browser().visit(`${HOME}/`)).status).toBe(403);
    expect(seen).toEqual([]);
  });

  it('fetches its metadata once an hour', async () => {
    const metadata = samlifyIdp(IDP, () => START_MS).metadata;
    const all = stage({ idp_metadata_url: `${IDP}/metadata` }, () => good(metadata));
    expect(await all.browser().visit(`${HOME}/deep`)).toMatchObject({ status: 200, text: 'the app' });
    expect(await all.browser().visit(`${HOME}/deep`)).toMatchObject({ status: 200 });
    expect(all.fetched).toEqual([`${IDP}/metadata`]);
    all.clock.nowMs += 3_600_000;
    await all.browser().visit(`${HOME}/deep`);
    expect(all.fetched).toHaveLength(2);
    // A clock that was set back tells no longer how old they are.
    all.clock.nowMs -= 7_200_000;
    await all.browser().visit(`${HOME}/deep`);
    expect(all.fetched).toHaveLength(3);
  });

  it.each([
    ['is unavailable', (): Answers['fetch'] => ({ failure: 'timeout', detail: 'late' })],
    ['is not there', (): Answers['fetch'] => ({ ...good(''), status: 404 })],
    ['is not metadata', (): Answers['fetch'] => good('<html/>')],
    [
      'has ended',
      (): Answers['fetch'] =>
        good(
          samlifyIdp(IDP, () => START_MS).metadata.replace(
            'entityID=',
            'validUntil="2025-12-31T00:00:00Z" entityID=',
          ),
        ),
    ],
  ])('refuses logins when that metadata %s', async (_name, answer) => {
    const all = stage({ idp_metadata_url: `${IDP}/metadata` }, answer);
    expect((await all.browser().visit(`${HOME}/`)).status).toBe(502);
    expect(all.seen).toEqual([]);
  });
});
