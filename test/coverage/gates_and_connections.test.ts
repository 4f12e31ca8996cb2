import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { coverScenario, explainWhyNot } from '../../src/index.ts';
import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { isOpen } from '../../src/coverage/point.ts';
import { edgeOf, runCases } from './covered.ts';
import { onePolicy } from '../one_route.ts';
import { IS_FULL } from '../random.ts';

const policy = (phase: string, rules: readonly object[]) => ({ value: JSON.stringify({ [phase]: rules }) });
const CONFIG = {
  ip_policies: { office: { rules: [{ cidr: '203.0.113.0/24', action: 'allow' }] } },
  backends: {
    app: { static: { address: '127.0.0.1:3000' } },
    db: { static: { address: '127.0.0.1:5433' } },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        tls_termination: { redirect_http: true },
        routes: [
          {
            match_type: 'path_prefix',
            match: '/gh',
            oauth: {
              provider: { github: { client_id: 'a', client_secret: 'b', teams: ['acme/platform'] } },
              auth_check_interval: 300,
            },
            backend: { backend_id: 'app' },
          },
          {
            match_type: 'path_prefix',
            match: '/oidc',
            oidc: {
              issuer: 'https://idp.test',
              client_id: 'a',
              client_secret: 'b',
              options_passthrough: true,
            },
            backend: { backend_id: 'app' },
          },
          {
            match_type: 'path_prefix',
            match: '/saml',
            saml: { idp_metadata: IDP_METADATA, authorized_groups: ['staff'] },
            backend: { backend_id: 'app' },
          },
          {
            match_type: 'path_prefix',
            match: '/hook',
            webhook_verification: { provider: 'stripe', secret: 'whsec_c2VjcmV0' },
            backend: { backend_id: 'app' },
          },
        ],
      },
    },
    tls: {
      queue: {
        hostports: ['queue.test:443', '*.queue.test:5671'],
        tls_termination: { terminate_at: 'edge' },
        traffic_policy: policy('on_tcp_connect', [
          { name: 'strangers', expressions: ["conn.geo.country_code == 'AQ'"], actions: [{ type: 'deny' }] },
        ]),
        backend: { backend_id: 'db' },
      },
    },
    tcp: {
      pg: {
        hostports: ['1.tcp.test:5432'],
        ip_restriction: { ip_policy_ids: ['office'] },
        backend: { backend_id: 'db' },
      },
    },
  },
};

/**
 * What the search does not try: a token of the provider, very large bodies and users, and the time after which metadata is
 * not valid.
 */
const LEFT =
  /\.(?:provider_logout|body_too_large|timestamp_missing|session_too_long)\b|oauth\.identity_refused|saml\.provider_failed/;

describe('login gates, webhooks, TLS and TCP edges', () => {
  // Short runs have the test with policies, which uses the same search.
  it.runIf(IS_FULL)('are covered by suggested cases that pass and cover their points', () => {
    const edge = createEdge(CONFIG);
    const first = coverScenario(edge, {
      identities: { alice: { teams: ['acme/platform'] } },
      cases: [
        { name: 'alice', request: { path: '/gh', as: 'alice' }, expect: { status: 200 } },
        { name: 'db', connect: '1.tcp.test:5432', expect: { connection: 'allowed' } },
        {
          name: 'signed',
          request: { path: '/hook', body: '{}', sign: { provider: 'stripe', secret: 'whsec_c2VjcmV0' } },
          expect: { status: 200 },
        },
      ],
    });
    expect(first.cases.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed']);
    const { cases, identities, points } = first.emit();
    const names = cases.map(({ name }) => name).join('\n');
    expect(names).toContain('a connection reaches *.queue.test:5671');
    expect(names).toContain('saml.not_authorized');
    expect(names).toContain('webhook_verification.timestamp_stale');
    expect(names).toContain('tls_termination.redirected');
    expect(JSON.stringify(cases)).not.toContain('state=');
    const again = coverScenario(edge, { identities, cases: [...cases] });
    expect(again.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
    const covered = new Set(again.points.flatMap(({ id, uncovered }) => (uncovered === null ? [id] : [])));
    expect(points.filter(({ id }) => !covered.has(id)).map(({ message }) => message)).toEqual([]);
    const open = first.points.filter(isOpen).filter(({ id }) => !covered.has(id));
    expect(open.map(({ message }) => message).filter((message) => !LEFT.test(message))).toEqual([]);
  });

  it('explain which changes are needed', () => {
    const edge = createEdge(CONFIG);
    const why = (request: object, name: string) => explainWhyNot(edge, request, name, { identities });
    const identities = { bob: { teams: [] } };
    expect(why({ path: '/gh', as: 'bob' }, 'oauth.session')).toMatchObject({
      changes: ["as 'member' (teams acme/platform, groups staff)"],
      request: { as: 'member' },
    });
    expect(why({ path: '/hook' }, 'webhook_verification.verified')).toMatchObject({
      changes: ['signed by stripe'],
    });
    const sign = { provider: 'stripe', secret: 'whsec_c2VjcmV0' };
    expect(why({ path: '/hook', body: '{}', sign }, 'webhook_verification.verified')).toEqual({
      verdict: 'already',
    });
    expect(() => why({ path: '/gh', as: 'carol' }, 'oauth.session')).toThrow("unknown identity 'carol'");
  });

  it('count connections separately', () => {
    const covered = coveredEdge(edgeOf(CONFIG));
    runCases(covered, [
      { connect: { to: '1.tcp.test:5432', ip: '203.0.113.0' }, expect: { connection: 'allowed' } },
      { connect: { to: '1.tcp.test:5432', ip: '198.51.100.1' }, expect: { connection: 'denied' } },
      { connect: 'tls://a.queue.test:5671', expect: { backend: 'db' } },
    ]);
    const { points } = coverageOf(covered);
    const hits = (id: string) => points.find((point) => point.id === id)?.hits;
    expect(hits('routes /edges/tcp/pg')).toBe(2);
    expect(hits('reasons /edges/tcp/pg/ip_restriction ip_restriction.allowed')).toBe(1);
    expect(hits('reasons /edges/tcp/pg/ip_restriction ip_restriction.not_allowed')).toBe(1);
    expect(hits('addresses /ip_policies/office/rules/0 203.0.113.0')).toBe(1);
    expect(hits('backends /edges/tcp/pg db')).toBe(1);
    expect(hits('hosts /edges/tls/queue/hostports/1')).toBe(1);
    expect(hits('hosts /edges/tls/queue/hostports/0')).toBe(0);
    expect(hits('modules /edges/tls/queue/traffic_policy')).toBe(1);
    const impossible = points.filter(({ uncovered }) => uncovered?.reason === 'cannot_happen');
    expect(impossible.map(({ id }) => id)).toContain(
      'reasons /edges/tls/queue/traffic_policy traffic_policy.denied',
    );
  });

  it('report whose login would have helped when a case fails', () => {
    const { cases } = coverScenario(createEdge(CONFIG), {
      identities: { bob: {} },
      cases: [{ name: 'bob', request: { path: '/gh', as: 'bob' }, expect: { status: 200 } }],
    });
    expect(cases[0]!.near).toBe(
      "as 'member' (teams acme/platform, groups staff) the expectations would be met",
    );
  });

  it('are covered in policies, too', () => {
    const login = { issuer_url: 'https://idp.test', client_id: 'a', client_secret: 'b' };
    const edge = createEdge(
      onePolicy({
        on_http_request: [
          { name: 'login', actions: [{ type: 'openid-connect', config: login }] },
          {
            name: 'others',
            expressions: ["!actions.service.oidc.identity.email.endsWith('@acme.test')"],
            actions: [{ type: 'deny' }],
          },
        ],
      }),
    );
    const start = { name: 'a', request: '/', expect: { status: 302 } };
    const { cases, identities } = coverScenario(edge, { cases: [start] }).emit();
    const again = coverScenario(edge, { identities, cases: [start, ...cases] });
    expect(again.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(again.missed({ rules: 100, actions: 100, outcomes: 100, mcdc: 100, reasons: 70 })).toEqual([]);
  });
});
