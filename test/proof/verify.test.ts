import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certifyEquivalence, certifyProperty } from '../../src/analysis/certify.ts';
import { compare } from '../../src/analysis/diff.ts';
import { prove } from '../../src/analysis/prove.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { Certificate } from '../../src/proof/certificate.ts';
import { hashOf, verify } from '../../src/proof/verify.ts';
import { oneRoute } from '../one_route.ts';
import { sized } from '../random.ts';
import { mayImport } from '../tidy/rooms.ts';

const deny = (expression: string) => ({
  expressions: [expression],
  actions: [{ type: 'deny', config: { status_code: 403 } }],
});

function edge(rules: readonly object[], { range = '10.0.0.0/8', gate = 'ip_restriction' } = {}): EdgeConfig {
  const gates = {
    ip_restriction: { ip_restriction: { ip_policy_ids: ['office'] } },
    user_agent_filter: { user_agent_filter: { allow: ['^curl/'], deny: ['.*'] } },
    none: {},
  };
  return createEdge({
    ip_policies: {
      office: {
        rules: [
          { cidr: range, action: 'allow' },
          { cidr: '10.1.0.0/16', action: 'deny' },
        ],
      },
    },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      ops: { static: { address: 'localhost:3001' } },
    },
    edges: {
      https: {
        main: {
          hostports: ['a.test:443', '*.b.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              traffic_policy: { value: JSON.stringify({ on_http_request: rules }) },
            },
            {
              match_type: 'path_prefix',
              match: '/admin',
              backend: { backend_id: 'ops' },
              ...gates[gate as keyof typeof gates],
            },
          ],
        },
      },
    },
  }).config;
}

const OFFICE = {
  name: 'only the office reaches ops',
  where: "!inCidrRange(conn.client_ip, '10.0.0.0/8')",
  never: { end: 'forwarded', backend: 'ops' },
} as const;
const RULES = [deny("req.method == 'PUT'"), deny("inCidrRange(conn.client_ip, '192.0.2.0/24')")];
const MY_EDGE = edge(RULES);
const OFFICE_CERTIFICATE = certifyProperty(MY_EDGE, OFFICE, [hashOf(MY_EDGE)]);

/** Whether a certificate is accepted; whatever it throws is a refusal. */
function isAccepted(certificate: unknown, configs: readonly EdgeConfig[]): boolean {
  try {
    verify(certificate as Certificate, configs);
    return true;
  } catch {
    return false;
  }
}

test('the checker shares nothing with the analysis', () => {
  for (const room of ['analysis', 'coverage', 'simulator', 'project_files'])
    expect([room, mayImport('proof', room)]).toEqual([room, false]);
});

describe('a certificate of a property', () => {
  test('is verified', () => {
    expect(prove(MY_EDGE, OFFICE).verdict).toBe('PROVED');
    const copy = JSON.parse(JSON.stringify(OFFICE_CERTIFICATE)) as Certificate;
    expect(verify(copy, [MY_EDGE]).classes).toBeGreaterThan(5);
  });

  test('with a gate of user agents and conditions on header fields', () => {
    const config = edge([deny("req.headers['x-team'][0].startsWith('b')"), deny("!hasReqHeader('x-a')")], {
      gate: 'user_agent_filter',
    });
    const property = {
      name: 'browsers do not reach ops',
      where: "!req.user_agent.startsWith('curl/')",
      never: { end: 'forwarded', backend: 'ops' },
    } as const;
    expect(verify(certifyProperty(config, property, [hashOf(config)]), [config]).classes).toBeGreaterThan(5);
  });

  test.each([
    ["getQueryParam('key')[0] != 'a'", "hasQueryParam('key') && !('a' in getQueryParam('key'))"],
    [
      "!('a' in req.url.query_params['key'])",
      "hasQueryParam('key') && getQueryParam('key').exists(v, v == 'b') && !getQueryParam('key').exists(v, v.startsWith('a'))",
    ],
    [
      "!hasReqHeader('x-key') || req.headers['x-key'].exists(v, v.contains('bad'))",
      "'x-key' in req.headers && 'very bad' in req.headers['X-Key']",
    ],
    ["getReqCookie('lane').value != 'a'", "req.cookies['lane'][0].value == 'b'"],
    ["!hasReqCookie('lane')", "!('lane' in req.cookies)"],
    ["req.url.scheme == 'http'", "req.url.scheme != 'https'"],
  ])('with a rule `%s`', (rule, where) => {
    const config = edge([deny(rule)]);
    const property = { name: 'app', where, never: { end: 'forwarded', backend: 'app' } } as const;
    expect(prove(config, property).verdict).toBe('PROVED');
    const certificate = certifyProperty(config, property, [hashOf(config)]);
    expect(verify(certificate, [config]).classes).toBeGreaterThan(2);
    for (const other of ["req.method == 'PUT'", `(${rule}) && req.method == 'PUT'`]) {
      const open = edge([deny(other)]);
      expect(prove(open, property).verdict).toBe('REFUTED');
      expect(isAccepted({ ...certificate, hashes: [hashOf(open)] }, [open])).toBe(false);
    }
    const all = { property: { ...property, where: 'true' } };
    expect(isAccepted({ ...certificate, claim: all }, [config])).toBe(false);
  });

  test('although something that does not matter is opaque', () => {
    const config = edge([deny('size(req.headers) > 40'), deny("req.host == 'a.test'"), ...RULES]);
    const property = {
      name: 'app',
      where: "req.method == 'PUT'",
      never: { end: 'forwarded', backend: 'app' },
    } as const;
    expect(verify(certifyProperty(config, property, [hashOf(config)]), [config]).classes).toBeGreaterThan(2);
  });

  test('is refused for another configuration, whatever hash it names', () => {
    for (const other of [edge(RULES, { gate: 'none' }), edge(RULES, { range: '0.0.0.0/0' })]) {
      expect(prove(other, OFFICE).verdict).toBe('REFUTED');
      expect(isAccepted(OFFICE_CERTIFICATE, [other])).toBe(false);
      expect(isAccepted({ ...OFFICE_CERTIFICATE, hashes: [hashOf(other)] }, [other])).toBe(false);
    }
  });

  test('is refused for a login that lets OPTIONS pass', () => {
    const shop = (more: object) =>
      createEdge(oneRoute({ oauth: { provider: { google: {} }, ...more } })).config;
    const never = { end: 'forwarded', backend: 'app', without: ['login'] } as const;
    const property = { name: 'a login', where: 'true', never };
    const config = shop({});
    const certificate = certifyProperty(config, property, [hashOf(config)]);
    expect(isAccepted(certificate, [config])).toBe(true);
    const open = shop({ options_passthrough: true });
    expect(isAccepted({ ...certificate, hashes: [hashOf(open)] }, [open])).toBe(false);
  });

  test('is refused for a false claim', () => {
    const claims = [
      { ...OFFICE, where: "!inCidrRange(conn.client_ip, '10.0.0.0/9')" },
      { ...OFFICE, where: 'true' },
      { ...OFFICE, never: { end: 'forwarded' } },
      { ...OFFICE, never: { end: 'forwarded', backend: 'app' } },
      { ...OFFICE, never: { end: 'stopped' } },
      { ...OFFICE, never: { end: 'forwarded', backend: 'none' } },
    ];
    for (const property of claims)
      expect([property, isAccepted({ ...OFFICE_CERTIFICATE, claim: { property } }, [MY_EDGE])]).toEqual([
        property,
        false,
      ]);
  });

  test('is refused if classes are joined, left out or said to be empty', () => {
    const { tree } = OFFICE_CERTIFICATE;
    const request = { method: 'GET', url: 'https://a.test/', headers: [], clientIp: '203.0.113.9' };
    for (const other of [{ request }, { empty: 'path' }, { empty: 'client address' }, {}])
      expect(isAccepted({ ...OFFICE_CERTIFICATE, tree: other }, [MY_EDGE])).toBe(false);
    if ('test' in tree) {
      for (const part of [
        tree.yes,
        tree.no,
        { ...tree, yes: tree.no },
        { ...tree, no: tree.yes },
        { ...tree, yes: { empty: 'host' } },
      ])
        expect(isAccepted({ ...OFFICE_CERTIFICATE, tree: part }, [MY_EDGE])).toBe(false);
    }
  });
});

test(
  'a claim is accepted only if it is true, however its certificate was tampered with',
  { timeout: 600_000 },
  () => {
    // The property is false for this edge: no certificate may show it, so every change of one must be refused.
    const open = edge(RULES, { range: '0.0.0.0/0' });
    const forged = {
      ...certifyProperty(open, { ...OFFICE, where: 'false' }, [hashOf(open)]),
      claim: { property: OFFICE },
    };
    const sources = [forged, { ...OFFICE_CERTIFICATE, hashes: [hashOf(open)] }];
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 4 }),
        (source, changes) => {
          const copy = JSON.parse(JSON.stringify(source)) as Certificate;
          for (const [at, by] of changes) tamper(copy, at, by);
          expect(isAccepted({ ...copy, claim: { property: OFFICE } }, [open])).toBe(false);
        },
      ),
      // The small run tampers with 100 certificates.
      sized(2_000),
    );
  },
);

/** Changes one place of a certificate: a state, a bit, a branch, a request. */
function tamper({ tests, tree }: Certificate, at: number, by: number): void {
  const table = tests[at % tests.length]!.table as { starts: number[]; next: number[]; accepts: number[] };
  const nodes: Record<string, unknown>[] = [];
  const collect = (node: object): void => {
    nodes.push(node as Record<string, unknown>);
    if ('yes' in node && 'no' in node) for (const each of [node.yes, node.no]) collect(each as object);
  };
  collect(tree);
  const node = nodes[at % nodes.length]!;
  const changes = [
    () => void (table.next[at % table.next.length] = by % table.accepts.length),
    () => void (table.accepts[at % table.accepts.length]! ^= 1),
    () => void (table.starts[at % table.starts.length]! += by % 3),
    () => {
      if ('yes' in node) [node['yes'], node['no']] = [node['no'], node['yes']];
    },
    () =>
      void Object.assign(
        node,
        nodes[by % nodes.length]!['test'] === undefined ? { empty: 'path' } : { test: by % tests.length },
      ),
    () =>
      void (node['test'] === undefined
        ? Object.assign(
            node,
            nodes.find((each) => 'request' in each),
          )
        : (node['test'] = by % tests.length)),
  ];
  changes[by % changes.length]!();
}

describe('a certificate of equivalence', () => {
  const other = edge([
    deny("inCidrRanges(conn.client_ip, ['192.0.2.128/25', '192.0.2.0/25'])"),
    deny("req.method in ['PUT']"),
  ]);
  const hashes = [MY_EDGE, other].map(hashOf);

  test('is verified, and refused for others', () => {
    expect(compare({ config: MY_EDGE }, { config: other }).verdict).toBe('equivalent');
    const certificate = certifyEquivalence({ config: MY_EDGE }, { config: other }, hashes);
    expect(verify(certificate, [MY_EDGE, other]).classes).toBeGreaterThan(5);
    const changed = [
      edge([deny("req.method == 'POST'"), RULES[1]!]),
      edge([RULES[0]!, deny("inCidrRange(conn.client_ip, '192.0.2.0/25')")]),
      edge(RULES.slice(1)),
      edge(RULES, { range: '10.0.0.0/9' }),
    ];
    for (const next of changed) {
      expect(compare({ config: MY_EDGE }, { config: next }).verdict).toBe('different');
      const tampered = { ...certificate, hashes: [MY_EDGE, next].map(hashOf) };
      expect(isAccepted(tampered, [MY_EDGE, next])).toBe(false);
    }
  });
});

test('what cannot be shown in this way has no certificate', () => {
  const config = edge([deny('size(req.headers) > 40')]);
  const property = { name: 'all', never: { end: 'forwarded' } } as const;
  expect(isAccepted(certifyProperty(config, property, [hashOf(config)]), [config])).toBe(false);
});

/** A route `/health` with these members beside a gated one; all paths are plain. */
function health(members: object, more: object = {}): EdgeConfig {
  const route = { match_type: 'exact_path', match: '/health', backend: { backend_id: 'app' }, ...members };
  const gated = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'app' },
    ip_restriction: { ip_policy_ids: ['office'] },
  };
  return createEdge({
    ip_policies: { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      none: { weighted: { app: 0 } },
      agents: { tunnel_group: { labels: { a: 'b' } } },
    },
    edges: { https: { main: { hostports: ['a.test:443'], routes: [route, gated], ...more } } },
  }).config;
}

const ruled = (...rules: readonly object[]) => ({
  traffic_policy: { value: JSON.stringify({ on_http_request: rules }) },
});
const does = (type: string, config: object, ...expressions: readonly string[]) => ({
  expressions,
  actions: [{ type, config }],
});

describe.each(['stopped', 'blocked'] as const)('a certificate that no request is %s', (end) => {
  const claim = { name: 'health', where: "req.url.path == '/health'", never: { end } } as const;
  /** The classes of an edge, with this claim. */
  const isShown = (config: EdgeConfig): boolean =>
    isAccepted(certifyProperty(config, claim, [hashOf(config)]), [config]);

  test.each([
    ['a backend alone', {}],
    [
      'edits of headers',
      { request_headers: { add: { 'x-a': '1' } }, response_headers: { add: { 'x-b': '1' } } },
    ],
    [
      'rules for other paths, and an edit',
      ruled(
        does('log', { metadata: { a: '${req.method}' } }, "req.url.path == '/other'"),
        does('add-headers', { headers: { 'x-a': '1' } }),
      ),
    ],
  ])('is verified: %s', (_name, members) => {
    const config = health(members);
    expect([prove(config, claim).verdict, isShown(config)]).toEqual(['PROVED', true]);
  });

  test.each([
    ['a gate', { ip_restriction: { ip_policy_ids: ['office'] } }],
    ['agents', { user_agent_filter: { deny: ['bot'] } }],
    ['a breaker', { circuit_breaker: {} }],
    ['a backend without weights', { backend: { backend_id: 'none' } }],
    ['a backend of agents', { backend: { backend_id: 'agents' } }],
    ['a rule that stops', ruled(does('deny', {}, "req.method == 'PUT'"))],
    [
      'an expression that fails',
      ruled(does('log', { metadata: { a: '1' } }, "req.headers['x-a'][0] == '1'")),
    ],
    ['a template that fails', ruled(does('add-headers', { headers: { 'x-a': "${req.headers['x-b'][0]}" } }))],
    ['a Host that is refused', ruled(does('add-headers', { headers: { host: 'a=b' } }))],
    ['a rewrite that may fail', ruled(does('url-rewrite', { from: '/health', to: 'x' }))],
    ['an opaque condition', ruled(does('deny', {}, 'size(req.headers) > 40'))],
    [
      'a response that is stopped',
      {
        traffic_policy: {
          value: JSON.stringify({ on_http_response: [does('restrict-ips', { allow: ['10.0.0.0/8'] })] }),
        },
      },
    ],
    ['a login', { oauth: { provider: { google: {} } } }],
  ])('is refused: %s', (_name, members) => {
    expect(isShown(health(members))).toBe(false);
  });

  test('is refused for everything, which has gates and spellings', () => {
    const config = health({});
    const certificate = certifyProperty(config, claim, [hashOf(config)]);
    const property = { name: 'all', never: { end } };
    expect(isAccepted({ ...certificate, claim: { property } }, [config])).toBe(false);
  });
});
