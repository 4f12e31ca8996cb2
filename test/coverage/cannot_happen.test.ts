import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { readDocument } from '../../src/config_file/read.ts';
import { POLICY_FILE } from '../../src/policy/document/read.ts';
import { PROVIDERS, findProvider } from '../../src/webhooks/table.ts';
import { chanceOf } from '../analysis/random_edges.ts';
import { rareEdge } from '../analysis/rare_edges.ts';
import { IDP_METADATA } from '../auth/saml/idp_metadata.ts';
import { onePolicy, oneRoute } from '../one_route.ts';
import { IS_FULL, runs, seeded, sized } from '../random.ts';
import { secretsFor } from '../webhooks/secrets.ts';
import { edgeOf } from './covered.ts';
import { falseClaims } from './false_claims.ts';

/** No run may do what coverage reports as impossible: the search tries to refute each claim. */

const CLAIM_RUNS = IS_FULL ? runs(20_000) : 250;
const FIXTURES = join(import.meta.dirname, '../../fixtures');
/** Short runs search in every third one: each is searched as long as the others. */
const POLICIES = readdirSync(join(FIXTURES, 'policies'))
  .filter((name) => /\.(?:yaml|json)$/.test(name))
  .filter((_name, index) => IS_FULL || index % 3 === 0);

describe('nothing happens that is reported as impossible', () => {
  it.each(['sample/edge.yaml', 'every_module/edge.yaml'])('in %s', async (name) => {
    const { config } = await loadConfig(join(FIXTURES, name));
    expect(
      falseClaims(
        edgeFixture(config!, () => null),
        { runs: CLAIM_RUNS },
      ),
    ).toEqual([]);
  });

  it.each(POLICIES)('in policies/%s', (name) => {
    const text = readFileSync(join(FIXTURES, 'policies', name), 'utf8');
    const { document } = readDocument({ name, text }, POLICY_FILE);
    const { on_tcp_connect: _, ...policy } = document!.value as Record<string, unknown>;
    const edge = edgeOf(onePolicy(policy));
    expect(falseClaims(edge, { runs: CLAIM_RUNS })).toEqual([]);
  });

  it('in random policies', () => {
    const property = fc.property(policies, (policy) => {
      // The check refuses policies with unreachable actions.
      const { config, locate } = checkWholeEdge({ value: insideOut(policy) });
      fc.pre(config !== null);
      expect(falseClaims(edgeFixture(config, locate), { runs: runs(400, 25) })).toEqual([]);
    });
    fc.assert(property, sized(600, 3));
  });

  it('in random modules', () => {
    const property = fc.property(fc.record(MODULES, { requiredKeys: [] }), backendTrees, (route, more) => {
      const restricted = { ip_restriction: { ip_policy_ids: ['p'] }, backend: { backend_id: 'root' } };
      const edge = edgeOf(oneRoute({ ...withoutRivals(route), ...restricted }, more));
      expect(falseClaims(edge, { runs: runs(400, 25) })).toEqual([]);
    });
    fc.assert(property, sized(600, 4));
  });

  it('in random edges of several routes', () => {
    const chance = chanceOf(seeded(5));
    for (let round = 0; round < runs(80, 4); round++) {
      const { config, locate } = checkWholeEdge({ value: rareEdge(chance) });
      if (config === null) continue;
      expect([config, ...falseClaims(edgeFixture(config, locate), { runs: runs(400, 25) })]).toEqual([
        config,
      ]);
    }
  });
});

const LOGIN = { issuer_url: 'https://idp.test', client_id: 'a', client_secret: 'b' };

const EXPRESSIONS = [
  'true',
  'false',
  'true || hasReqHeader("x")',
  "req.method == 'GET'",
  "req.method == 'PUT'",
  "req.method in ['GET', 'PUT']",
  "req.url.path == '/a'",
  "req.url.path.startsWith('/a')",
  "req.url.path.startsWith('/a/b')",
  "req.url.path == '/a/b' && req.url.path.startsWith('/x')",
  "req.method == 'GET' && req.method == 'PUT'",
  "req.host == 'shop.test'",
  'req.content_length == 3 && req.content_length == 4',
  "hasReqHeader('x') && !hasReqHeader('x')",
  "conn.client_ip == '2001:db8::1' && conn.client_ip == '2001:DB8::1'",
  "req.url.path == '/A' && req.url.path == '/a'",
  "req.url.path == '/A'",
];
const RESPONSE_EXPRESSIONS = [
  'true',
  'res.status_code == 200',
  'res.status_code == 200 && res.status_code == 500',
  "res.content_type == 'text/plain'",
  "req.url.path.startsWith('/a')",
];

const REQUEST_ACTIONS = [
  { type: 'deny' },
  { type: 'custom-response', config: { status_code: 200, body: 'x' } },
  { type: 'close-connection' },
  { type: 'redirect', config: { to: '/a/b' } },
  { type: 'url-rewrite', config: { to: '/a/b/c' } },
  { type: 'add-headers', config: { headers: { x: 'y' } } },
  { type: 'remove-headers', config: { headers: ['x'] } },
  { type: 'log', config: { metadata: { a: 'b' } } },
  { type: 'restrict-ips', config: { allow: ['203.0.113.0/24'] } },
  { type: 'restrict-ips', config: { deny: ['203.0.113.0/24', '10.0.0.0/8'] } },
  { type: 'restrict-ips', config: { deny: ['203.0.113.0/24'], enforce: false } },
  {
    type: 'rate-limit',
    config: { name: 'n', algorithm: 'sliding_window', capacity: 1, rate: '60s', bucket_key: ['req.host'] },
  },
  { type: 'circuit-breaker', config: { error_threshold: 0.5, volume_threshold: 1 } },
  { type: 'forward-internal', config: { url: 'https://in.internal' } },
  { type: 'forward-internal', config: { url: 'https://in.internal', on_error: 'continue' } },
  { type: 'http-request', config: { url: 'https://other.test/', on_error: 'continue' } },
  { type: 'basic-auth', config: { credentials: ['user:pass-word'] } },
  { type: 'verify-webhook', config: { provider: 'github', secret: 'x' } },
  { type: 'openid-connect', config: LOGIN },
  { type: 'oauth', config: { provider: 'github', client_id: 'a', client_secret: 'b' } },
  { type: 'saml', config: { idp_metadata: IDP_METADATA } },
];
const RESPONSE_ACTIONS = [
  {
    type: 'custom-response',
    config: { status_code: 200, headers: { 'content-type': 'text/plain' }, body: 'x' },
  },
  { type: 'add-headers', config: { headers: { 'content-type': 'text/plain' } } },
  { type: 'remove-headers', config: { headers: ['content-type'] } },
  { type: 'compress-response' },
  { type: 'log', config: { metadata: { a: 'b' } } },
];

const rules = (expressions: readonly string[], actions: readonly object[]) =>
  fc.array(
    fc.record({
      expressions: fc.array(fc.constantFrom(...expressions), { maxLength: 2 }),
      actions: fc.array(fc.constantFrom(...actions), { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 4 },
  );

/** Policies with at most one login. */
const policies = fc
  .record({
    on_http_request: rules(EXPRESSIONS, REQUEST_ACTIONS),
    on_http_response: rules(RESPONSE_EXPRESSIONS, RESPONSE_ACTIONS),
  })
  .filter(({ on_http_request: request }) => {
    const types = request.flatMap(({ actions }) =>
      actions.map((action) => (action as { type: string }).type),
    );
    return types.filter((type) => /^(?:openid-connect|oauth|saml)$/.test(type)).length <= 1;
  });

/** A policy on the route of an edge beside an internal one. */
function insideOut(policy: object): object {
  const edge = onePolicy(policy);
  const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
  const https = { ...edge.edges.https, in: { hostports: ['in.internal:443'], routes } };
  return { ...edge, edges: { https } };
}

function secretFor(id: string): object {
  const provider = findProvider(id)!;
  const { checking } = secretsFor(provider, provider.schemes[0]);
  return checking === undefined ? {} : { secret: checking };
}

const lists = fc.subarray(['(?i)bot', '^curl/', '.*', 'a{500}']);
const MODULES = {
  user_agent_filter: fc
    .record({ allow: lists, deny: lists })
    .filter(
      ({ allow, deny }) => !allow.includes('.*') && !deny.includes('.*') && allow.length + deny.length > 0,
    ),
  compression: fc.constant({}),
  circuit_breaker: fc.constant({
    volume_threshold: 2,
    rolling_window: 10,
    num_buckets: 10,
    tripped_duration: 5,
  }),
  webhook_verification: fc
    .constantFrom(...PROVIDERS.map(({ id }) => id))
    .map((provider) => Object.assign({ provider }, secretFor(provider))),
  oauth: fc.constantFrom({ teams: ['acme/platform'] }, { organizations: ['acme'] }, {}).map((who) => ({
    provider: { github: { client_id: 'a', client_secret: 'b', ...who } },
    auth_check_interval: 300,
  })),
  oidc: fc.boolean().map((passes) => ({
    issuer: 'https://idp.test',
    client_id: 'a',
    client_secret: 'b',
    options_passthrough: passes,
  })),
  saml: fc
    .record({ authorized_groups: fc.subarray(['staff']), inactivity_timeout: fc.constantFrom(0, 60) })
    .map((own) => Object.assign({ idp_metadata: IDP_METADATA }, own)),
  websocket_tcp_converter: fc.constant({}),
};

/** A route has one login. */
function withoutRivals(route: Readonly<Record<string, unknown>>): object {
  const rivals = new Set(['oauth', 'oidc', 'saml'].filter((name) => name in route).slice(1));
  return Object.fromEntries(Object.entries(route).filter(([name]) => !rivals.has(name)));
}

const ranges = fc.constantFrom(
  '10.0.0.0/8',
  '10.0.0.0/9',
  '10.128.0.0/9',
  '10.0.0.7/32',
  '0.0.0.0/0',
  '::/0',
  '::ffff:10.0.0.0/104',
);
const backendTrees = fc
  .record({
    rules: fc.uniqueArray(fc.record({ cidr: ranges, action: fc.constantFrom('allow', 'deny') }), {
      selector: ({ cidr }) => cidr.replace('::ffff:10.0.0.0/104', '10.0.0.0/8'),
      minLength: 1,
      maxLength: 5,
    }),
    weights: fc.constantFrom([1, 1], [0, 1], [3, 0]),
    order: fc.constantFrom(['w', 'page', 'b'], ['page', 'w', 'b'], ['b', 'w', 'page'], ['w', 'b', 'page']),
  })
  .map(({ rules: own, weights: [a, c], order }) => ({
    ip_policies: { p: { rules: own } },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      c: { static: { address: 'localhost:3002' } },
      b: { static: { address: 'localhost:3001' } },
      page: { http_response: { status_code: 503, body: 'x' } },
      w: { weighted: { app: a, c } },
      root: { failover: order },
    },
  }));
