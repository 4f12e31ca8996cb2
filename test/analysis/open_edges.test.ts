import { expect, test } from 'vitest';
import { type Property, prove } from '../../src/analysis/prove.ts';
import { createEdge } from '../../src/edgeproof.ts';

/** Routes of `shop.test`, in whose file there are some backends and ranges; `app` is under `/`. */
function edge(routes: readonly object[], more: { readonly shop?: object; readonly edges?: object } = {}) {
  const app = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
  const at = (port: number) => ({ static: { address: `localhost:${port}` } });
  return {
    ip_policies: {
      office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] },
      every: { rules: [{ cidr: '0.0.0.0/0', action: 'allow' }] },
      mapped: { rules: [{ cidr: '::ffff:198.51.100.0/120', action: 'allow' }] },
    },
    backends: {
      app: at(3000),
      ops: at(3001),
      mixed: { weighted: { ops: 1 } },
      spare: { failover: ['ops', 'app'] },
    },
    edges: {
      https: {
        shop: { hostports: ['shop.test:443', '*.shop.test:443'], routes: [app, ...routes], ...more.shop },
        ...more.edges,
      },
    },
  };
}

const ops = (more: object = {}, match = '/ops') => ({
  match_type: 'path_prefix',
  match,
  backend: { backend_id: 'ops' },
  ...more,
});
const policy = (value: object) => ({ traffic_policy: { value: JSON.stringify(value) } });
const rules = (...list: readonly object[]) => policy({ on_http_request: list });
const act = (type: string, config: object = {}) => ({ actions: [{ type, config }] });
const deny = (...expressions: readonly string[]) => ({ expressions, ...act('deny') });
const office = { ip_restriction: { ip_policy_ids: ['office'] } };
const basic = { credentials: ['ann:password1'] };

const strangers: Property = {
  name: 'only the office reaches ops',
  where: "!inCidrRange(conn.client_ip, '10.0.0.0/8')",
  never: { end: 'forwarded', backend: 'ops' },
};
const without = (...gates: readonly string[]): Property => ({
  name: 'nothing reaches ops without a gate',
  never: { end: 'forwarded', backend: 'ops', without: gates },
});
const closed = (where: string): Property => ({ name: 'closed', where, never: { end: 'forwarded' } });
const never = (end: 'stopped' | 'blocked', where: string): Property => ({ name: end, where, never: { end } });

/** `/in` is forwarded to an internal endpoint, whose route has these members. */
function throughInternal(inner: object, more: object = {}): object {
  const forward = { on_http_request: [act('forward-internal', { url: 'https://ops.internal' })] };
  const outer = { match_type: 'path_prefix', match: '/in', ...policy({ ...forward, ...more }) };
  return edge([outer], {
    edges: { inside: { hostports: ['ops.internal:443'], routes: [ops(inner, '/')] } },
  });
}

/** Edges for which a property is false. `UNDECIDED` is what is expected where only the world could show it. */
const OPEN: readonly (readonly [name: string, edge: object, Property, 'REFUTED' | 'UNDECIDED'])[] = [
  [
    'a gate for one method',
    edge([ops(rules({ ...act('basic-auth', basic), expressions: ["req.method == 'GET'"] }))]),
    without('basic-auth'),
    'REFUTED',
  ],
  [
    'a gate for one host',
    edge([ops(rules({ ...act('basic-auth', basic), expressions: ["req.url.host == 'shop.test'"] }))]),
    without('basic-auth'),
    'REFUTED',
  ],
  ['a gate for one of two routes', edge([ops(office), ops({}, '/ops/status')]), strangers, 'REFUTED'],
  ['a gate for the route of one host', edge([ops(office, 'a.shop.test/ops'), ops()]), strangers, 'REFUTED'],
  [
    'a gate that is switched off',
    edge([ops({ ip_restriction: { ip_policy_ids: ['office'], enabled: false } })]),
    strangers,
    'REFUTED',
  ],
  [
    'a policy that is switched off',
    edge([ops(policy({ enabled: false, on_http_request: [act('deny')] }))]),
    strangers,
    'REFUTED',
  ],
  [
    'a gate that only reports',
    edge([ops(rules(act('restrict-ips', { allow: ['10.0.0.0/8'], enforce: false })))]),
    strangers,
    'REFUTED',
  ],
  [
    'a range for everyone',
    edge([ops({ ip_restriction: { ip_policy_ids: ['every'] } })]),
    strangers,
    'REFUTED',
  ],
  [
    'a range of mapped addresses',
    edge([ops({ ip_restriction: { ip_policy_ids: ['office', 'mapped'] } })]),
    strangers,
    'REFUTED',
  ],
  ['a part of a weighted backend', edge([ops({ backend: { backend_id: 'mixed' } })]), strangers, 'REFUTED'],
  ['a part of a failover', edge([ops({ backend: { backend_id: 'spare' } })]), strangers, 'REFUTED'],
  [
    'an internal endpoint',
    edge(
      [
        {
          match_type: 'path_prefix',
          match: '/in',
          ...rules(act('forward-internal', { url: 'https://ops.internal' })),
        },
      ],
      { edges: { inside: { hostports: ['ops.internal:443'], routes: [ops({}, '/')] } } },
    ),
    strangers,
    'REFUTED',
  ],
  [
    'a denial by an internal endpoint',
    throughInternal(rules(act('deny'))),
    never('blocked', "req.url.path == '/in'"),
    'REFUTED',
  ],
  [
    'an internal endpoint, and a denial of its response',
    throughInternal({}, { on_http_response: [act('restrict-ips', { allow: ['10.0.0.0/8'] })] }),
    strangers,
    'REFUTED',
  ],
  [
    'a Host that is refused',
    edge([ops(rules(act('add-headers', { headers: { host: 'a=b' } })))]),
    never('stopped', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'an action that adds what a gate asks for',
    edge([ops(rules(act('add-headers', { headers: { 'x-key': '1' } }), deny("!hasReqHeader('x-key')")))]),
    { ...closed("!hasReqHeader('x-key')"), never: { end: 'forwarded', backend: 'ops' } },
    'REFUTED',
  ],
  [
    'an action that removes what a gate refuses',
    edge([ops(rules(act('remove-headers', { headers: ['x-bad'] }), deny("hasReqHeader('x-bad')")))]),
    { ...closed("hasReqHeader('x-bad')"), never: { end: 'forwarded', backend: 'ops' } },
    'REFUTED',
  ],
  [
    'a rewrite before a gate by path',
    edge([], {
      shop: {
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            backend: { backend_id: 'app' },
            ...rules(
              act('url-rewrite', { from: '/admin/', to: '/a/' }),
              deny("req.url.path.startsWith('/admin/')"),
            ),
          },
        ],
      },
    }),
    closed("req.url.path.startsWith('/admin/')"),
    'REFUTED',
  ],
  [
    'a variable that an earlier rule sets',
    edge([ops(rules(act('set-vars', { vars: [{ ok: true }] }), deny('!vars.ok')))]),
    strangers,
    'REFUTED',
  ],
  ['a gate by chance', edge([ops(rules(deny('rand.double() < 0.4')))]), strangers, 'REFUTED'],
  ['a gate by time', edge([ops(rules(deny("time.now > '2030-01-01T00:00:00Z'")))]), strangers, 'REFUTED'],
  [
    'a gate by the first of several values',
    edge([ops(rules(deny("req.headers['x-key'][0] == 'bad'")))]),
    { ...closed("'bad' in req.headers['x-key']"), never: { end: 'forwarded', backend: 'ops' } },
    'REFUTED',
  ],
  [
    'a gate below an exact path',
    edge([], {
      shop: {
        routes: [
          { match_type: 'path_prefix', match: '/', backend: { backend_id: 'ops' } },
          { ...ops(office), match_type: 'exact_path' },
        ],
      },
    }),
    { ...strangers, where: `${strangers.where!} && req.url.path.startsWith('/ops/')` },
    'REFUTED',
  ],
  [
    'a gate in the response',
    edge([ops(policy({ on_http_response: [act('restrict-ips', { allow: ['10.0.0.0/8'] })] }))]),
    strangers,
    'REFUTED',
  ],
  [
    'a request of the policy that may fail',
    edge([ops(rules(act('http-request', { url: 'https://auth.test/check' })))]),
    without('http-request'),
    'REFUTED',
  ],
  ['a wildcard host', edge([ops(office, 'shop.test/ops'), ops({}, 'b.shop.test/ops')]), strangers, 'REFUTED'],
  ['plain HTTP', edge([], {}), closed("req.url.scheme == 'http'"), 'REFUTED'],
  [
    'a login that lets OPTIONS pass',
    edge([ops({ oauth: { provider: { google: {} }, options_passthrough: true } })]),
    without('login'),
    'REFUTED',
  ],
  [
    'another login than the named one',
    edge([ops({ oauth: { provider: { google: {} } } })]),
    without('saml'),
    'UNDECIDED',
  ],
  [
    'agents that are refused',
    edge([ops({ user_agent_filter: { deny: ['(?i)bot'] } })]),
    never('blocked', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'a denial in the response',
    edge([ops(policy({ on_http_response: [act('restrict-ips', { allow: ['10.0.0.0/8'] })] }))]),
    never('blocked', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'a redirect of plain HTTP',
    edge([ops()], { shop: { tls_termination: { redirect_http: true } } }),
    never('stopped', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'a breaker',
    edge([ops({ circuit_breaker: { volume_threshold: 1 } })]),
    never('stopped', "req.url.path == '/ops'"),
    'UNDECIDED',
  ],
  [
    'a limit',
    edge([
      ops(
        rules(
          act('rate-limit', {
            name: 'n',
            algorithm: 'sliding_window',
            capacity: 1,
            rate: '60s',
            bucket_key: ['conn.client_ip'],
          }),
        ),
      ),
    ]),
    never('blocked', "req.url.path == '/ops'"),
    'UNDECIDED',
  ],
  [
    'an expression that fails',
    edge([
      ops(rules({ expressions: ["req.headers['x-a'][0] == '1'"], ...act('log', { metadata: { a: '1' } }) })),
    ]),
    never('blocked', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'a template that fails',
    edge([ops(rules(act('add-headers', { headers: { 'x-a': "${req.headers['x-b'][0]}" } })))]),
    never('blocked', "req.url.path == '/ops'"),
    'REFUTED',
  ],
  [
    'the paths of a login',
    edge([ops({ oauth: { provider: { google: {} } } })]),
    never('stopped', "req.url.path == '/auth/callback'"),
    'REFUTED',
  ],
  [
    'a spelling that the router refuses',
    edge([ops()]),
    never('stopped', "req.url.path.startsWith('/')"),
    'UNDECIDED',
  ],
];

test.each(OPEN)('%s', (_name, config, property, expected) => {
  const proof = prove(createEdge(config).config, property);
  expect([proof.verdict, 'problem' in proof ? proof.problem : '']).toEqual([expected, '']);
});

test('an internal endpoint alone is reached by no client', () => {
  const inside = { hostports: ['ops.internal:443'], routes: [ops({}, '/')] };
  const { config } = createEdge(edge([], { edges: { inside } }));
  expect(prove(config, without()).verdict).toBe('PROVED');
  const { config: open } = createEdge(throughInternal({}));
  expect(prove(open, without()).verdict).toBe('REFUTED');
});

test('TLS termination that redirects lets nothing pass without TLS', () => {
  const { config } = createEdge(edge([ops()], { shop: { tls_termination: { redirect_http: true } } }));
  expect(prove(config, closed("req.url.scheme == 'http'")).verdict).toBe('PROVED');
});
