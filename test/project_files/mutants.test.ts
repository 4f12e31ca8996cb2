import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configMutants } from '../../src/analysis/config_mutants.ts';
import { MUTATION_OPERATORS } from '../../src/analysis/mutation_operators.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { withoutFiles } from '../../src/edge/document/without_files.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { type MutationResult, merged, mutate, scoreOf } from '../../src/project_files/mutate.ts';
import { mutationJunit, mutationReport, mutationText } from '../../src/project_files/mutation_report.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { scenarioLoader } from '../../src/project_files/load_scenario.ts';
import { compileCase } from '../../src/simulator/compile_case.ts';
import { runCase } from '../../src/simulator/run_case.ts';
import { folderWith } from '../folder.ts';

const limit = {
  type: 'rate-limit',
  config: {
    name: 'a',
    algorithm: 'sliding_window',
    capacity: 2,
    rate: '60s',
    bucket_key: ['conn.client_ip'],
  },
};
const policy = {
  on_http_request: [
    { expressions: ["req.url.path.startsWith('/a') && !hasReqHeader('x-in')"], actions: [limit] },
    {
      expressions: [
        "req.method in ['PUT', 'POST']",
        "size(req.user_agent) < 20 || req.user_agent.matches('^bot')",
      ],
      actions: [
        { type: 'add-headers', config: { headers: { 'x-a': '1' } } },
        { type: 'log', config: { metadata: { a: 'b' } } },
      ],
    },
  ],
};
const edge = {
  ip_policies: {
    office: {
      rules: [
        { cidr: '10.0.0.0/8', action: 'allow' },
        { cidr: '10.1.0.0/16', action: 'deny' },
      ],
    },
    home: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] },
  },
  backends: {
    app: { static: { address: 'localhost:3000' } },
    ops: { static: { address: 'localhost:3001' } },
    mix: { weighted: { app: 1, ops: 3 } },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } },
          {
            match_type: 'path_prefix',
            match: '/admin',
            backend: { backend_id: 'mix' },
            ip_restriction: { ip_policy_ids: ['office', 'home'] },
            user_agent_filter: { allow: ['(?i)^curl'], deny: ['x', '.*bot$'] },
          },
          {
            match_type: 'path_prefix',
            match: '/api',
            backend: { backend_id: 'app' },
            compression: { enabled: true },
            circuit_breaker: {
              tripped_duration: 60,
              rolling_window: 30,
              num_buckets: 3,
              volume_threshold: 4,
              error_threshold_percentage: 0.5,
            },
            traffic_policy: { value: JSON.stringify(policy) },
          },
        ],
      },
    },
  },
};

const cases = [
  {
    name: 'a stranger',
    request: { url: 'https://shop.test/admin', ip: '203.0.113.9' },
    expect: { status: 403 },
  },
  {
    name: 'limited',
    timeline: [
      { send: { url: 'https://shop.test/api/a', count: 2 }, expect: { counts: { 200: 2 } } },
      { send: { url: 'https://shop.test/api/a' }, expect: { status: 429 } },
    ],
  },
];

const folder = folderWith({
  'edge.yaml': JSON.stringify(edge, null, 1),
  'shop.scenario.yaml': JSON.stringify({ edge: './edge.yaml', cases }),
});
const scenario = join(folder, 'shop.scenario.yaml');

async function result(options = {}): Promise<MutationResult> {
  const found = await mutate(scenario, options);
  if ('diagnostics' in found) throw new Error(found.diagnostics.map(({ message }) => message).join('; '));
  return found;
}

test('every operator has a mistake', () => {
  const [shop] = Object.values(edge.edges.https);
  const login = {
    ...shop!.routes[0]!,
    match: '/in',
    oauth: { provider: { google: {} }, options_passthrough: true },
  };
  const https = { shop: { ...shop!, routes: [...shop!.routes, login] } };
  const { config } = createEdge({ ...edge, edges: { https } });
  const used = new Set(Array.from(configMutants(config), ({ operator }) => operator));
  expect(Object.keys(MUTATION_OPERATORS).filter((name) => !used.has(name as never))).toEqual([]);
});

test('facts of filters say which members name something, and which stay as they are', () => {
  const restrict = { type: 'restrict-ips', config: { ip_policies: ['office'] } };
  const breaker = { type: 'circuit-breaker', config: { tripped_duration: '60s', num_buckets: 10 } };
  const value = JSON.stringify({ on_http_request: [{ actions: [restrict, breaker] }] });
  const [shop] = Object.values(edge.edges.https);
  const [first, , third] = shop!.routes;
  const routes = [
    { ...first!, traffic_policy: { value } },
    { ...third!, traffic_policy: { value } },
  ];
  const { config } = createEdge({ ...edge, edges: { https: { shop: { ...shop!, routes } } } });
  const mutants = Array.from(configMutants(config));
  const of = (member: string): readonly string[] =>
    mutants.filter(({ pointer }) => pointer.endsWith(`/${member}`)).map(({ operator }) => operator);
  expect(of('circuit_breaker/num_buckets')).toEqual(['setting-missing']);
  expect(of('config/num_buckets')).toEqual(['setting-missing', 'setting-missing']);
  expect(of('ip_policies/0')).toContain('policy-swapped');
});

test('schemas say which members stay as they are, wherever else a name is used', () => {
  const token = { type: 'jwt', method: 'header', name: 'x-token', prefix: '' };
  const jwt = {
    type: 'jwt-validation',
    config: {
      issuer: { allow_list: [{ value: 'https://login.test' }] },
      http: { tokens: [token] },
      jws: {
        allowed_algorithms: ['ES256'],
        keys: { sources: { additional_jkus: ['https://login.test/keys'] } },
      },
    },
  };
  const value = JSON.stringify({ inbound: [{ name: 'signed', actions: [jwt, limit] }] });
  const notes = { description: 'the shop', metadata: 'm' };
  const [shop] = Object.values(edge.edges.https);
  const route = { ...shop!.routes[0]!, ...notes, traffic_policy: { value } };
  const database = { ...notes, hostports: ['db.test:443'], backend: { backend_id: 'app' } };
  const headers = { name: 'a', description: 'b' };
  const { config } = createEdge({
    ...edge,
    service_name: 'shop',
    backends: { ...edge.backends, page: { ...notes, http_response: { status_code: 200, headers } } },
    edges: { https: { shop: { ...notes, ...shop!, routes: [route] } }, tls: { db: database } },
  });
  const changed = new Map<string, number>();
  for (const { pointer, message } of configMutants(config))
    if (/ instead of /.test(message)) changed.set(pointer, (changed.get(pointer) ?? 0) + 1);
  const of = (end: string): readonly string[] => [...changed.keys()].filter((each) => each.endsWith(end));
  expect(of('/description')).toEqual(['/backends/page/http_response/headers/description']);
  expect(of('/headers/name')).toHaveLength(1);
  const kept = ['metadata', 'address', 'service_name', 'hostports/0', 'type', 'enabled', 'algorithm'];
  expect(kept.flatMap((name) => of(`/${name}`))).toEqual([]);
  expect(of('/name').map((each) => each.slice(each.lastIndexOf('/config')))).toContain(
    '/config/http/tokens/0/name',
  );
  expect(of('/inbound/0/name')).toEqual([]);
  expect(of('/config/name')).toEqual([]);
  expect(of('/issuer/allow_list/0/value')).toHaveLength(1);
  expect(of('/tls/db/backend/backend_id')).toHaveLength(1);
});

test.each(['fixtures/every_module/edge.yaml', 'fixtures/sample/edge.yaml'])(
  'no mistake in %s is listed twice, and each changes something',
  async (file) => {
    const { config } = await loadConfig(file);
    const texts = Array.from(configMutants(config!), (mutant) => JSON.stringify(mutant.config));
    expect(texts.length).toBeGreaterThan(200);
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    expect(texts).not.toContain(JSON.stringify(withoutFiles(config!)));
  },
);

test('certificates that were read from files do not keep mistakes from being tried', async () => {
  const { config } = await loadConfig('fixtures/every_module/edge.yaml');
  const [first] = configMutants(config!);
  expect(
    checkWholeEdge({ value: first!.config }).diagnostics.filter(({ code }) => /file|pem/.test(code)),
  ).toEqual([]);
});

test('what is shared between mistakes changes no result', async () => {
  const loaded = await scenarioLoader()(scenario);
  const { checked, edge: fixture } = loaded;
  const setting = {
    checked,
    shell: checked.scenario!.shell,
    edge: fixture!.config,
    signer: null,
    seed: null,
  };
  const suite = checked.scenario!.cases.map((row) => compileCase(row, setting, [])!);
  const counts = { killed: 0, refused: 0 };
  for (const [at, { config: value }] of Array.from(configMutants(fixture!.config)).entries()) {
    if (at % 8 !== 0) continue;
    const { config } = checkWholeEdge({ value });
    if (config === null) counts.refused++;
    else {
      const own = edgeFixture(config, () => null);
      if (suite.some((each) => runCase(each, own).mismatches.length > 0)) counts.killed++;
    }
  }
  const share = { index: 0, of: 8 };
  const { killed, refused, survivors, equivalent } = await result({ offers: true, share });
  expect({ killed, refused }).toEqual(counts);
  // Offered cases pass, and each fails with its mistake: that is checked before they are offered.
  const offered = survivors.filter((each) => each.offered !== null);
  const shown = survivors.filter(({ witness }) => witness !== null);
  expect(offered.length).toBeGreaterThan(shown.length * 0.9);
  expect(equivalent).toBeGreaterThan(0);
});

test('shares of several threads are as one, in every report', async () => {
  const [whole, ...shares] = await Promise.all([
    result({ max: 90 }),
    ...[0, 1, 2].map((index) => result({ max: 90, share: { index, of: 3 } })),
  ]);
  const together = merged(shares);
  const fates = ({ survivors: all, ...counts }: MutationResult) => ({
    ...counts,
    survivors: all.map(({ pointer, message, verdict }) => ({ pointer, message, verdict })),
  });
  expect(fates(together)).toEqual(fates(merged([whole])));
  expect(scoreOf(together)).toBe(scoreOf(whole));
  const { survivors } = together;
  expect(mutationText(together)).toContain(`${survivors.length} survive`);
  expect(mutationJunit(together).match(/<failure /g)).toHaveLength(survivors.length);
  const { tables, groups } = mutationReport(together, '1.2.3');
  expect(groups.map(({ items }) => items.length)).toEqual([survivors.length]);
  expect(tables[0]!.rows.map(([name]) => name)).toEqual(Object.keys(together.operators));
});
