/** Mistakes planted into a correct configuration: each is found, with its code, at its place. */
export interface PlantedMistake {
  readonly name: string;
  /** The rules of the policy; default none. */
  readonly rules?: readonly object[];
  /** The rules of its response phase; default none. */
  readonly responses?: readonly object[];
  /** Members of the edge. */
  readonly shop?: object;
  /** Members of the route `/`. */
  readonly route?: object;
  /** Routes after it. */
  readonly routes?: readonly object[];
  /** Other members of the file. */
  readonly more?: object;
  readonly backends?: object;
  readonly hostports?: readonly string[];
  readonly code: string;
  /** The end of the pointer. */
  readonly at: string;
}

const action = (type: string, config: object = {}) => ({ type, config });
const rule = (expressions: readonly string[], ...actions: readonly object[]) => ({
  expressions,
  actions: actions.length > 0 ? actions : [action('deny')],
});
const deny = (...expressions: readonly string[]) => rule(expressions);
const log = action('log', { metadata: { lane: 'x' } });
const logged = (...expressions: readonly string[]) => rule(expressions, log);
const route = (match: string, more: object = {}, type = 'path_prefix') => ({
  match_type: type,
  match,
  backend: { backend_id: 'app' },
  ...more,
});
const ranges = (...list: readonly string[]) => ({
  route: { ip_restriction: { ip_policy_ids: ['p'] } },
  more: {
    ip_policies: {
      p: {
        rules: list.map((each) => ({
          action: each.startsWith('-') ? 'deny' : 'allow',
          cidr: each.replace(/^-/, ''),
        })),
      },
    },
  },
});
const agents = (allow: readonly string[], denied: readonly string[]) => ({
  route: { user_agent_filter: { allow, deny: denied } },
});
const office = { ip_policies: { p: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } } };
const gate = { ip_restriction: { ip_policy_ids: ['p'] } };
const oidc = { issuer: 'https://idp.test', client_id: 'a', client_secret: 'b' };

const DEAD: readonly (readonly [name: string, rules: readonly object[], at: string])[] = [
  [
    'a rule behind a wider prefix',
    [deny("req.url.path.startsWith('/a')"), deny("req.url.path == '/a/b'")],
    '/1',
  ],
  ['two methods at once', [deny("req.method == 'GET' && req.method == 'POST'")], '/0'],
  ['a method in lower case', [deny("req.method == 'get'")], '/0'],
  ['a host in upper case', [deny("req.url.host == 'SHOP.test'")], '/0'],
  ['a host with its port', [deny("req.url.host == 'shop.test:443'")], '/0'],
  ['a host with a dot at the end', [deny("req.url.host == 'shop.test.'")], '/0'],
  ['a path without a slash', [logged("req.url.path.startsWith('admin')")], '/0'],
  ['a path with two slashes', [logged("req.url.path.startsWith('//admin')")], '/0'],
  ['a path with a query', [logged("req.url.path == '/a?b=c'")], '/0'],
  ['a scheme with a colon', [deny("req.url.scheme == 'https:'")], '/0'],
  ['another host', [deny("req.url.host == 'shop.example'")], '/0'],
  ['a mapped address', [deny("conn.client_ip == '::ffff:10.0.0.1'")], '/0'],
  ['an address with leading zeros', [deny("conn.client_ip == '010.0.0.1'")], '/0'],
  ['a rule after all were denied', [deny(), logged("req.method == 'GET'")], '/1'],
  [
    'a pattern inside of another one',
    [deny("req.url.path.matches('^/v[0-9]+/')"), deny("req.url.path.startsWith('/v1/')")],
    '/1',
  ],
  [
    'ranges that are used up',
    [
      deny("inCidrRange(conn.client_ip, '10.0.0.0/9')"),
      deny("inCidrRange(conn.client_ip, '10.128.0.0/9')"),
      deny("inCidrRange(conn.client_ip, '10.1.0.0/16')"),
    ],
    '/2',
  ],
  [
    'the negation of an expression before it',
    [deny("req.method != 'GET'"), deny("req.method == 'POST'")],
    '/1',
  ],
  ['a header name with a colon', [logged("hasReqHeader('x-a:')")], '/0'],
  ['a cookie name with its sign', [logged("hasReqCookie('lane=')")], '/0'],
  ['an address as a range', [deny("conn.client_ip == '192.0.2.0/24'")], '/0'],
  [
    'a time window that ends before it begins',
    [
      deny(
        "timestamp(time.now) > timestamp('2026-02-01T00:00:00Z') && timestamp(time.now) < timestamp('2026-01-01T00:00:00Z')",
      ),
    ],
    '/0',
  ],
  ['a share of a hundred', [logged('rand.double() > 10.0')], '/0'],
  ['a list as one text', [deny("req.method in ['PUT,DELETE']")], '/0'],
  ['a header that is and is not there', [deny("hasReqHeader('x-a') && !hasReqHeader('x-a')")], '/0'],
];

const PARTS: readonly (readonly [name: string, expression: string, code: string])[] = [
  ['every path', "req.url.path.startsWith('/')", 'always_true'],
  ['every path, as a pattern', "req.url.path.matches('^/.*')", 'always_true'],
  ['every host of the edge', "req.url.host == 'shop.test'", 'always_true'],
  ['not one of two', "req.method != 'GET' || req.method != 'POST'", 'always_true'],
  ['a method that does not exist', "req.method == 'GET' || req.method == 'get'", 'never_true'],
  ['a host that it cannot be', "req.url.path == '/a' || req.url.host == 'x.test'", 'never_true'],
  ['a condition twice', "req.method == 'GET' && req.method == 'GET'", 'redundant_expression'],
  [
    'a prefix of a prefix',
    "req.url.path.startsWith('/a') && req.url.path.startsWith('/a/b')",
    'redundant_expression',
  ],
  [
    'a narrower alternative',
    "req.url.path.startsWith('/a') || req.url.path == '/a/b'",
    'redundant_expression',
  ],
  ['a method twice in a list', "req.method in ['GET', 'PUT', 'GET']", 'redundant_element'],
  ['an unknown method in a list', "req.method in ['PUT', 'put']", 'redundant_element'],
  ['a range in a range', "inCidrRanges(conn.client_ip, ['10.0.0.0/8', '10.1.0.0/16'])", 'redundant_element'],
  ['a pattern for paths', "req.url.path.matches('/admin')", 'unanchored_pattern'],
  ['a pattern with an anchor in one alternative', "req.url.path.matches('^/a|/b$')", 'unanchored_pattern'],
  ['a pattern for paths with an end', "req.url.path.matches('/admin$')", 'unanchored_pattern'],
];

export const PLANTED: readonly PlantedMistake[] = [
  ...DEAD.map(([name, rules, at]) => ({
    name,
    rules,
    code: 'analysis.dead_rule',
    at: `on_http_request${at}`,
  })),
  ...PARTS.map(([name, expression, code]) => ({
    name,
    rules: [logged(expression)],
    code: `analysis.${code}`,
    at: 'on_http_request/0/expressions/0',
  })),
  {
    name: 'an expression that another one implies',
    rules: [logged("req.url.path.startsWith('/a')", "req.url.path == '/a/b'")],
    code: 'analysis.redundant_expression',
    at: 'on_http_request/0/expressions/0',
  },
  {
    name: 'a pattern for hosts',
    rules: [logged("req.url.host.matches('shop')")],
    hostports: ['shop.test:443', '*.shop.test:443'],
    code: 'analysis.unanchored_pattern',
    at: 'expressions/0',
  },
  {
    name: 'an action after a deny',
    rules: [rule([], action('deny'), log)],
    code: 'ERR_SERVICE_2207',
    at: 'actions/1/type',
  },
  {
    name: 'an action after a response',
    rules: [rule([], action('custom-response', { body: 'x' }), log)],
    code: 'ERR_SERVICE_2207',
    at: 'actions/1/type',
  },
  {
    name: 'all are denied',
    ...ranges('10.0.0.0/8', '-0.0.0.0/0'),
    code: 'analysis.blocks_all',
    at: 'ip_restriction',
  },
  {
    name: 'all are allowed',
    ...ranges('0.0.0.0/0', '::/0'),
    code: 'analysis.allows_all',
    at: 'ip_restriction',
  },
  {
    name: 'all, in halves',
    ...ranges('0.0.0.0/1', '128.0.0.0/1', '::/0'),
    code: 'analysis.allows_all',
    at: 'ip_restriction',
  },
  {
    name: 'an allowed range in a denied one',
    ...ranges('10.1.0.0/16', '-10.0.0.0/8', '192.0.2.0/24'),
    code: 'analysis.swallowed_range',
    at: 'rules/0',
  },
  {
    name: 'a range in another',
    ...ranges('10.0.0.0/8', '10.1.0.0/16'),
    code: 'analysis.redundant_range',
    at: 'rules/1',
  },
  {
    name: 'a range that two others cover',
    ...ranges('10.0.0.0/9', '10.128.0.0/9', '10.0.0.0/8'),
    code: 'analysis.redundant_range',
    at: 'rules/2',
  },
  {
    name: 'a denied range outside',
    ...ranges('10.0.0.0/8', '-192.0.2.0/24'),
    code: 'analysis.redundant_range',
    at: 'rules/1',
  },
  {
    name: 'a mapped range twice',
    ...ranges('10.0.0.0/8', '::ffff:10.1.0.0/112'),
    code: 'analysis.redundant_range',
    at: 'rules/1',
  },
  {
    name: 'IPv4 only',
    ...ranges('0.0.0.0/0', '-10.0.0.0/8'),
    code: 'analysis.one_family',
    at: 'ip_restriction',
  },
  { name: 'IPv6 only', ...ranges('::/0'), code: 'analysis.one_family', at: 'ip_restriction' },
  {
    name: 'a range in another of an action',
    rules: [rule([], action('restrict-ips', { allow: ['10.0.0.0/8', '10.1.0.0/16'] }))],
    code: 'analysis.redundant_range',
    at: 'config/allow/1',
  },
  {
    name: 'a pattern behind a wider one',
    ...agents(['^curl/', '^curl/8'], []),
    code: 'analysis.dead_pattern',
    at: 'allow/1',
  },
  {
    name: 'a pattern that is allowed before',
    ...agents(['(?i)bot'], ['(?i)badbot']),
    code: 'analysis.dead_pattern',
    at: 'deny/0',
  },
  { name: 'a pattern for all', ...agents(['.*'], []), code: 'analysis.pattern_matches_all', at: 'allow/0' },
  { name: 'a name in one case', ...agents([], ['badbot']), code: 'analysis.pattern_of_case', at: 'deny/0' },
  {
    name: 'a route like its parent',
    routes: [route('/api')],
    code: 'analysis.redundant_route',
    at: 'routes/1',
  },
  {
    name: 'a gate for a folder with its last slash',
    routes: [route('/admin/', gate)],
    more: office,
    code: 'analysis.spelling_bypass',
    at: 'routes/1',
  },
  {
    name: 'an exact route with a gate',
    routes: [route('/admin', gate, 'exact_path')],
    more: office,
    code: 'analysis.spelling_bypass',
    at: 'routes/1',
  },
  {
    name: 'exact routes with a gate, with and without a slash',
    routes: [route('/admin', gate, 'exact_path'), route('/admin/', gate, 'exact_path')],
    more: office,
    code: 'analysis.open_subpaths',
    at: 'routes/1',
  },
  {
    name: 'GET without HEAD',
    rules: [deny("req.method == 'GET' && req.url.path.startsWith('/internal')")],
    code: 'analysis.method_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'a pattern for one letter case',
    rules: [deny("req.url.path.matches('^/[A]dmin$')")],
    code: 'analysis.spelling_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'a rule for the old path after a rewrite',
    rules: [
      rule(["req.url.path.startsWith('/old/')"], action('url-rewrite', { from: '/old/', to: '/new/' })),
      logged("req.url.path.startsWith('/old/')"),
    ],
    code: 'analysis.match_after_rewrite',
    at: 'on_http_request/1',
  },
  {
    name: 'a redirect to itself',
    rules: [rule(["req.url.path.startsWith('/a')"], action('redirect', { from: '/a', to: '/a/b' }))],
    code: 'analysis.redirect_loop',
    at: 'on_http_request/0',
  },
  {
    name: 'a breaker that one error opens',
    route: { circuit_breaker: { volume_threshold: 1 } },
    code: 'analysis.breaker_one_error',
    at: 'circuit_breaker',
  },
  {
    name: 'a share in percent as if of one',
    route: { circuit_breaker: { error_threshold_percentage: 0.005 } },
    code: 'analysis.breaker_one_error',
    at: 'circuit_breaker',
  },
  {
    name: 'a breaker without a share',
    rules: [rule([], action('circuit-breaker', { error_threshold: 0 }))],
    code: 'analysis.breaker_one_error',
    at: 'actions/0/config',
  },
  {
    name: 'a breaker for more than there is',
    route: { circuit_breaker: { volume_threshold: 4_000_000_000 } },
    code: 'analysis.breaker_never_trips',
    at: 'circuit_breaker',
  },
  {
    name: 'a breaker before a fixed response',
    routes: [route('/ok', { backend: { backend_id: 'ok' }, circuit_breaker: {} })],
    backends: { ok: { http_response: { status_code: 200, body: 'ok' } } },
    code: 'analysis.breaker_never_trips',
    at: 'circuit_breaker',
  },
  {
    name: 'a failover that starts with a fixed response',
    routes: [route('/ok', { backend: { backend_id: 'safe' } })],
    backends: { ok: { http_response: { status_code: 503, body: 'x' } }, safe: { failover: ['ok', 'app'] } },
    code: 'analysis.dead_backend',
    at: 'failover/1',
  },
  {
    name: 'OPTIONS without a login',
    route: { oidc: { ...oidc, options_passthrough: true } },
    code: 'analysis.passes_options',
    at: 'oidc',
  },
  {
    name: 'a session of a year',
    route: { oidc: { ...oidc, maximum_duration: 31_536_000 } },
    code: 'analysis.long_session',
    at: 'oidc',
  },
];
