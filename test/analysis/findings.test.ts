import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findings } from '../../src/analysis/findings.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { exactFindings } from '../../src/project_files/exact_findings.ts';
import { onePolicy, oneRoute } from '../one_route.ts';

const found = (edge: object): readonly string[] =>
  findings(createEdge(edge).config).map(({ code, pointer, basis, witness }) => {
    // What was run has a request that shows it.
    expect([code, witness !== null]).toEqual([code, basis === 'run']);
    return `${code} ${pointer.replace('/edges/https/shop/routes/', '')}`;
  });

const policy = '0/traffic_policy/value/on_http_request';
const deny = (expression: string) => ({ expressions: [expression], actions: [{ type: 'deny', config: {} }] });
const log = { type: 'log', config: { metadata: { lane: 'x' } } };
const rules = (...list: readonly object[]) => onePolicy({ on_http_request: list });

describe('what no request can reach', () => {
  test.each([
    [
      'a rule behind a wider one',
      [deny("req.url.path.startsWith('/a')"), deny("req.url.path == '/a/b'")],
      [`analysis.dead_rule ${policy}/1`],
    ],
    [
      'a contradiction',
      [deny("req.method == 'GET' && req.method in ['POST', 'PUT']")],
      [`analysis.dead_rule ${policy}/0`],
    ],
    [
      'patterns that exclude each other',
      [deny("req.url.path.matches('^/v[0-9]/') && req.url.path.matches('^/va/')")],
      [`analysis.dead_rule ${policy}/0`],
    ],
    [
      'ranges that are used up',
      [
        deny("inCidrRange(conn.client_ip, '10.0.0.0/9')"),
        deny("inCidrRange(conn.client_ip, '10.128.0.0/9')"),
        deny("inCidrRange(conn.client_ip, '10.0.0.0/8')"),
      ],
      [`analysis.dead_rule ${policy}/2`],
    ],
    [
      'what comes after the end of all requests',
      [deny('true'), { actions: [log] }],
      [`analysis.dead_rule ${policy}/1`],
    ],
    [
      'a greater number',
      [deny('size(req.headers) > 40'), deny('size(req.headers) > 50')],
      [`analysis.dead_rule ${policy}/1`],
    ],
    [
      'an error for all that the others leave',
      [deny("req.headers['x-a'][0] == '1'"), deny("'x-a' in req.headers")],
      ['analysis.blocked_route 0'],
    ],
    [
      'an upper-case path, which no canonical scheme is',
      [deny("req.url.scheme == 'HTTPS'")],
      [`analysis.dead_rule ${policy}/0`],
    ],
  ] as const)('%s', (_name, list, expected) => {
    expect(found(rules(...list))).toEqual(expected);
  });

  test.each([
    ['a narrower rule first', [deny("req.url.path == '/a/b'"), deny("req.url.path.startsWith('/a')")]],
    ['other spellings', [deny("req.url.path == '/a'"), deny("req.url.path == '/a/'")]],
    ['an opaque condition', [deny("req.headers.exists(k, k > 'x')"), deny("req.headers.exists(k, k > 'y')")]],
    [
      'what an action changed',
      [
        { actions: [{ type: 'url-rewrite', config: { from: '/a/', to: '/b/' } }] },
        deny("req.url.path.startsWith('/b/')"),
      ],
    ],
  ] as const)('not reported: %s', (_name, list) => {
    expect(found(rules(...list))).toEqual([]);
  });
});

describe('lists without effect', () => {
  const withPolicy = (list: readonly object[]) =>
    oneRoute({ ip_restriction: { ip_policy_ids: ['p'] } }, { ip_policies: { p: { rules: list } } });
  const range = (cidr: string, action = 'allow') => ({ cidr, action });

  test('a swallowed range, and what is left of the policy', () => {
    expect(
      found(withPolicy([range('10.1.0.0/16'), range('10.0.0.0/8', 'deny'), range('192.0.2.0/24')])),
    ).toEqual(['analysis.swallowed_range /ip_policies/p/rules/0']);
    expect(found(withPolicy([range('10.1.0.0/16'), range('10.0.0.0/8', 'deny')]))).toEqual([
      'analysis.blocks_all 0/ip_restriction',
      'analysis.swallowed_range /ip_policies/p/rules/0',
    ]);
    expect(found(withPolicy([range('0.0.0.0/0'), range('::/0')]))).toEqual([
      'analysis.allows_all 0/ip_restriction',
    ]);
    expect(found(withPolicy([range('0.0.0.0/0')]))).toEqual(['analysis.one_family 0/ip_restriction']);
  });

  test('a pattern behind a wider one', () => {
    const edge = oneRoute({ user_agent_filter: { allow: ['^curl/', '^curl/8'], deny: ['(?i)bot', 'Bot'] } });
    expect(found(edge)).toEqual([
      'analysis.dead_pattern 0/user_agent_filter/allow/1',
      'analysis.dead_pattern 0/user_agent_filter/deny/1',
    ]);
    expect(found(oneRoute({ user_agent_filter: { deny: ['Bot', '(?i)bot'] } }))).toEqual([]);
  });

  test('a route for a host that the edge does not have is reported, if the file may have it', () => {
    const edge = oneRoute();
    edge.edges.https.shop.routes.push({
      match_type: 'exact_path',
      match: '/a',
      backend: { backend_id: 'next' },
    });
    Object.assign(edge.backends, { next: { static: { address: 'localhost:3001' } } });
    expect(found(edge)).toEqual([]);
  });
});

describe('rules for paths that their route does not have', () => {
  const below = (...list: readonly object[]) => {
    const edge = oneRoute();
    edge.edges.https.shop.routes.push({
      match_type: 'path_prefix',
      match: '/api',
      backend: { backend_id: 'app' },
      traffic_policy: { value: JSON.stringify({ on_http_request: list }) },
    } as never);
    return edge;
  };

  test.each(["req.url.path == '/admin'", "req.url.path.startsWith('/internal/')"])('%s', (expression) => {
    expect(found(below(deny(expression)))).toEqual([
      'analysis.dead_path 1/traffic_policy/value/on_http_request/0',
    ]);
  });

  test('not reported: what a request can fulfil as it is written', () => {
    expect(found(below(deny("req.url.path.startsWith('/api/admin')")))).toEqual([]);
    expect(found(below(deny("req.url.path.contains('%2F')")))).toEqual([]);
    expect(found(rules(deny("req.url.path == '/admin'")))).toEqual([]);
  });
});

describe('results of earlier actions are not said to be absent', () => {
  const restrict = { type: 'restrict-ips', config: { allow: ['10.0.0.0/8'], enforce: false } };
  const added = { type: 'add-headers', config: { headers: { 'x-a': '1' } } };
  const said = (edge: object) => found(edge).filter((each) => /always_true|never_true/.test(each));

  test.each([
    ['log', log],
    ['restrict_ips', restrict],
    ['add_headers', added],
  ])('%s', (name, action) => {
    const result = `has(actions.service.${name})`;
    const first = { actions: [action] };
    const others = [deny(`!${result} && req.method == 'GET'`), deny(`${result} || req.method == 'PUT'`)];
    expect(said(rules(first, ...others))).toEqual([]);
    const late = { expressions: [`${result} || res.status_code == 200`], actions: [added] };
    expect(said(onePolicy({ on_http_request: [first], on_http_response: [late] }))).toEqual([]);
    // Before the action there is no result.
    expect(said(rules(...others, first))).toEqual([
      `analysis.always_true ${policy}/0/expressions/0`,
      `analysis.never_true ${policy}/1/expressions/0`,
    ]);
  });
});

describe('a route like a less specific one', () => {
  const route = (match: string, backend: string) => ({
    match_type: 'path_prefix',
    match,
    backend: { backend_id: backend },
  });
  const ofRoutes = (...routes: readonly object[]) => {
    const edge = oneRoute({});
    edge.edges.https.shop.routes.push(...(routes as never[]));
    return { ...edge, backends: { ...edge.backends, ops: { static: { address: 'localhost:3001' } } } };
  };

  test('is redundant', () => {
    const edge = ofRoutes(route('/a', 'app'), route('/b', 'ops'), route('/Other', 'ops'));
    expect(found(edge)).toContain('analysis.redundant_route 1');
  });

  test('is not, if its paths would be ambiguous without it', () => {
    const edge = ofRoutes(route('/A', 'app'), route('/a', 'ops'));
    const without = ofRoutes(route('/a', 'ops'));
    const statuses = [edge, without].map(
      (each) => createEdge(each).decide({ url: 'https://shop.test/A' }).status,
    );
    expect(statuses).toEqual([200, 400]);
    expect(found(edge).join()).not.toContain('redundant_route');
  });
});

describe('gates that another spelling goes around', () => {
  test('a comparison of the path as sent', () => {
    // A text with a parameter makes the engine use the expression as it is written.
    expect(found(rules(deny("req.url.raw_path in ['/admin', '/admin;jsessionid']")))).toEqual([
      `analysis.spelling_bypass ${policy}/0`,
    ]);
    // The engine applies these to other spellings, too.
    expect(found(rules(deny("req.url.raw_path == '/admin'")))).toEqual([]);
    expect(found(rules(deny("req.url.path == '/admin'")))).toEqual([]);
  });

  const gate = (match: string, more: object = {}) => ({
    match_type: 'exact_path',
    match,
    backend: { backend_id: 'app' },
    ip_restriction: { ip_policy_ids: ['office'] },
    ...more,
  });
  const OFFICE = { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } };

  test('of every route, however many there are', () => {
    const edge = oneRoute({}, { ip_policies: OFFICE });
    for (let at = 0; at < 205; at++) edge.edges.https.shop.routes.push(gate(`/a${at}`));
    expect(found(edge)).toHaveLength(205);
  });

  test('for each host of a route', () => {
    const edge = oneRoute({ match: 'a.test/' }, { ip_policies: OFFICE });
    const { shop } = edge.edges.https;
    shop.hostports = ['a.test:443', 'b.test:443'];
    const other = { static: { address: 'localhost:3001' } };
    Object.assign(edge.backends, { other });
    shop.routes[0] = { match_type: 'path_prefix', match: 'a.test/x', backend: { backend_id: 'other' } };
    shop.routes.push(gate('/admin'), {
      match_type: 'path_prefix',
      match: 'b.test/',
      backend: { backend_id: 'app' },
    });
    expect(found(edge)).toEqual(['analysis.spelling_bypass 1']);
  });
});

describe('ranges in policies of TLS and TCP edges', () => {
  const withStream = (kind: 'tls' | 'tcp', config: object) => {
    const edge = oneRoute({}, { ip_policies: { p: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } } });
    const value = JSON.stringify({ on_tcp_connect: [{ actions: [{ type: 'restrict-ips', config }] }] });
    const own = {
      hostports: [kind === 'tls' ? 'db.test:443' : '1.tcp.test:5432'],
      traffic_policy: { value },
      backend: { backend_id: 'db' },
    };
    return {
      ...edge,
      backends: { ...edge.backends, db: { static: { address: 'localhost:5432' } } },
      edges: { ...edge.edges, [kind]: { db: own } },
    };
  };
  const at = (kind: string) => `/edges/${kind}/db/traffic_policy/value/on_tcp_connect/0/actions/0/config`;

  test.each(['tls', 'tcp'] as const)('%s', (kind) => {
    expect(found(withStream(kind, { allow: ['10.0.0.0/8', '10.1.0.0/16'] }))).toEqual([
      `analysis.redundant_range ${at(kind)}/allow/1`,
    ]);
    expect(found(withStream(kind, { allow: ['10.1.0.0/16'], deny: ['10.0.0.0/8'] }))).toEqual([
      `analysis.blocks_all ${at(kind)}`,
      `analysis.swallowed_range ${at(kind)}/allow/0`,
    ]);
  });

  test('a rule of an IP policy that one of them needs is not redundant', () => {
    const edge = withStream('tcp', { ip_policies: ['p'] });
    Object.assign(edge.edges.https.shop.routes[0]!, {
      traffic_policy: {
        value: JSON.stringify({
          on_http_request: [
            { actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'], ip_policies: ['p'] } }] },
          ],
        }),
      },
    });
    expect(found(edge).filter((each) => each.includes('ip_policies'))).toEqual([]);
  });
});

test('no finding about the files and policies of this project', { timeout: 60_000 }, async () => {
  for (const file of ['fixtures/sample/edge.yaml', 'fixtures/every_module/edge.yaml'])
    expect([file, await exactFindings(file)]).toEqual([file, []]);
  const names = readdirSync('fixtures/policies').filter(
    (name) => name.endsWith('.yaml') && name !== 'every_action.yaml',
  );
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    const text = readFileSync(`fixtures/policies/${name}`, 'utf8');
    const { config } = createEdge(oneRoute({ traffic_policy: { value: text } }));
    expect([name, findings(config)]).toEqual([name, []]);
  }
});

test('a rule for the response of an internal endpoint is not dead', () => {
  const forward = { actions: [{ type: 'forward-internal', config: { url: 'https://ops.internal' } }] };
  const header = { actions: [{ type: 'add-headers', config: { headers: { 'x-a': '1' } } }] };
  const value = JSON.stringify({ on_http_request: [forward], on_http_response: [header] });
  const edge = oneRoute({ traffic_policy: { value } });
  const inside = {
    hostports: ['ops.internal:443'],
    routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
  };
  const { config } = createEdge({ ...edge, edges: { https: { ...edge.edges.https, inside } } });
  expect(findings(config).map(({ code }) => code)).not.toContain('analysis.dead_rule');
});
