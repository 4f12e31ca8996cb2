import { action, deny, gate, limit, ranges, route, rule } from './edge_parts.ts';
import type { PlantedMistake } from './planted_mistakes.ts';

const basic = action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] });
const add = (headers: object) => action('add-headers', { headers });
const lim = (...key: readonly string[]) => action('rate-limit', limit(...key));
const ops = { ops: { static: { address: 'localhost:3001' } } };
const wild = ['shop.test:443', '*.shop.test:443'];

/** Mistakes of operators: gates that are gone around, orders, ranges, patterns, weights, sessions, headers and cookies. */
export const OPERATOR_MISTAKES: readonly PlantedMistake[] = [
  {
    name: 'login for GET only',
    rules: [rule(["req.method == 'GET'"], basic)],
    code: 'analysis.method_bypass',
    at: 'value/on_http_request/0',
  },
  {
    name: 'login unless OPTIONS',
    rules: [rule(["req.method != 'OPTIONS'"], basic)],
    code: 'analysis.passes_options',
    at: 'value/on_http_request/0',
  },
  {
    name: 'deny unless X-Forwarded-For is the office',
    rules: [deny("!getReqHeader('x-forwarded-for').exists(v, v.startsWith('10.'))")],
    code: 'analysis.forged_field',
    at: '0/expressions/0',
  },
  {
    name: 'login unless Googlebot',
    rules: [rule(["!req.user_agent.contains('Googlebot')"], basic)],
    code: 'analysis.header_bypass',
    at: 'value/on_http_request/0',
  },
  {
    name: 'deny by raw Host',
    rules: [deny("req.host == 'shop.test'", "req.url.path.startsWith('/admin')")],
    code: 'analysis.spelling_bypass',
    at: 'value/on_http_request/0',
  },
  {
    name: 'gate on one host of the edge',
    hostports: wild,
    routes: [
      route('shop.test/admin', { ...gate, backend: { backend_id: 'ops' } }),
      route('/admin', { backend: { backend_id: 'ops' } }),
    ],
    backends: ops,
    more: ranges('10.0.0.0/8'),
    code: 'analysis.open_host',
    at: 'shop/routes/1',
  },
  {
    name: 'restrict-ips in the response phase',
    responses: [rule([], action('restrict-ips', { allow: ['10.0.0.0/8'] }))],
    code: 'analysis.late_gate',
    at: '0/actions/0',
  },
  {
    name: 'login only for paths with slash',
    rules: [rule(["req.url.path == '/admin/'"], basic)],
    code: 'analysis.spelling_bypass',
    at: 'value/on_http_request/0',
  },
  {
    name: 'module and action allow different ranges',
    route: { ...gate },
    rules: [rule([], action('restrict-ips', { allow: ['192.168.0.0/16'] }))],
    more: ranges('10.0.0.0/8'),
    code: 'analysis.blocked_route',
    at: 'shop/routes/0',
  },
  {
    name: 'all of IPv4 in two halves',
    route: gate,
    more: ranges('0.0.0.0/1', '128.0.0.0/1'),
    code: 'analysis.one_family',
    at: 'routes/0/ip_restriction',
  },
  {
    name: 'not in one or not in the other',
    rules: [
      deny("!inCidrRange(conn.client_ip, '10.0.0.0/8') || !inCidrRange(conn.client_ip, '192.168.0.0/16')"),
    ],
    code: 'analysis.always_true',
    at: '0/expressions/0',
  },
  {
    name: 'in both ranges',
    rules: [
      rule(
        ["inCidrRange(conn.client_ip, '10.0.0.0/8') && inCidrRange(conn.client_ip, '192.168.0.0/16')"],
        basic,
      ),
    ],
    code: 'analysis.dead_rule',
    at: 'value/on_http_request/0',
  },
  {
    name: 'allowed range inside three denied',
    route: gate,
    more: ranges('10.2.0.0/15', '10.4.0.0/16', '-10.2.0.0/16', '-10.3.0.0/16'),
    code: 'analysis.swallowed_range',
    at: 'p/rules/0',
  },
  {
    name: 'loopback of IPv6 in long form',
    rules: [deny("conn.client_ip != '0:0:0:0:0:0:0:1'")],
    code: 'analysis.always_true',
    at: '0/expressions/0',
  },
  {
    name: 'Origin without an end',
    rules: [deny("!getReqHeader('origin').exists(o, o.matches('^https://shop[.]test'))")],
    code: 'analysis.unanchored_pattern',
    at: '0/expressions/0',
  },
  {
    name: 'unescaped dot in an Origin',
    rules: [deny("!getReqHeader('origin').exists(o, o.matches('^https://www.shop.test$'))")],
    code: 'analysis.unescaped_dot',
    at: '0/expressions/0',
  },
  {
    name: 'agents in lower case',
    rules: [deny("req.user_agent.matches('badbot|evilbot')")],
    code: 'analysis.pattern_of_case',
    at: '0/expressions/0',
  },
  {
    name: 'referer contains own name',
    rules: [deny("!getReqHeader('referer').exists(r, r.contains('shop.test'))")],
    code: 'analysis.unanchored_pattern',
    at: '0/expressions/0',
  },
  {
    name: 'glued path',
    rules: [rule([], action('url-rewrite', { from: '/api/', to: '/internal' }))],
    code: 'analysis.glued_path',
    at: '0/config/to',
  },
  {
    name: 'glued group',
    rules: [rule([], action('url-rewrite', { from: '/api/(.*)', to: '/internal$1' }))],
    code: 'analysis.glued_path',
    at: '0/config/to',
  },
  {
    name: 'redirect loop over two routes',
    rules: [rule(["req.url.path == '/a'"], action('redirect', { to: 'https://shop.test/b' }))],
    routes: [
      {
        ...route('/b'),
        traffic_policy: {
          value: JSON.stringify({
            on_http_request: [rule([], action('redirect', { to: 'https://shop.test/a' }))],
          }),
        },
      },
    ],
    code: 'analysis.redirect_loop',
    at: 'value/on_http_request/0',
  },
  {
    name: 'redirect to http that https redirects back',
    rules: [
      rule(["req.url.scheme == 'http'"], action('redirect', { from: '^http://', to: 'https://' })),
      rule(
        ["req.url.scheme == 'https' && req.url.path == '/x'"],
        action('redirect', { to: 'http://shop.test/x' }),
      ),
    ],
    code: 'analysis.redirect_loop',
    at: 'value/on_http_request/1',
  },
  {
    name: 'rule for the query of a rewritten URL',
    rules: [
      rule([], action('url-rewrite', { from: '/old/', to: '/new/' })),
      deny("req.url.path.startsWith('/old/')"),
    ],
    code: 'analysis.match_after_rewrite',
    at: 'value/on_http_request/1',
  },
  {
    name: 'both parts are the same server',
    route: { backend: { backend_id: 'w' } },
    backends: { new: { static: { address: 'localhost:3000' } }, w: { weighted: { app: 90, new: 10 } } },
    code: 'analysis.same_backend',
    at: 'w/weighted/new',
  },
  {
    name: 'failover to the same server',
    route: { backend: { backend_id: 'w' } },
    backends: { new: { static: { address: 'localhost:3000' } }, w: { failover: ['app', 'new'] } },
    code: 'analysis.same_backend',
    at: 'w/failover/1',
  },
  {
    name: 'complementary chance in two rules',
    rules: [
      rule(['rand.double() < 0.5'], add({ 'x-lane': 'a' })),
      rule(['rand.double() >= 0.5'], add({ 'x-lane': 'b' })),
    ],
    code: 'analysis.drawn_again',
    at: '1/expressions/0',
  },
  {
    name: 'limit by client port',
    rules: [rule([], lim('conn.client_ip', 'conn.client_port'))],
    code: 'analysis.scattered_limit',
    at: 'actions/0/config',
  },
  {
    name: 'limit by X-Forwarded-For',
    rules: [rule([], lim("getReqHeader('x-forwarded-for').join(',')"))],
    code: 'analysis.forged_field',
    at: 'actions/0/config',
  },
  {
    name: 'breaker action trips on one',
    rules: [rule([], action('circuit-breaker', { volume_threshold: 1, error_threshold: 0.1 }))],
    code: 'analysis.breaker_one_error',
    at: 'actions/0/config',
  },
  {
    name: 'user checks rarer than sessions end',
    route: { oauth: { provider: { google: {} }, maximum_duration: 3600, auth_check_interval: 7200 } },
    code: 'analysis.unused_check',
    at: '0/oauth/auth_check_interval',
  },
  {
    name: 'login action with inactivity above maximum',
    rules: [
      rule(
        [],
        action('openid-connect', {
          issuer_url: 'https://idp.test',
          client_id: 'a',
          client_secret: 'b',
          idle_session_timeout: '24h',
          max_session_duration: '1h',
        }),
      ),
    ],
    code: 'analysis.unused_inactivity',
    at: '0/config/idle_session_duration',
  },
  {
    name: 'star with credentials',
    responses: [
      rule([], add({ 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' })),
    ],
    code: 'analysis.refused_cors',
    at: 'actions/0/config',
  },
  {
    name: 'mirrored origin with credentials',
    responses: [
      rule(
        ["hasReqHeader('origin')"],
        add({
          'access-control-allow-origin': "${getReqHeader('origin')[0]}",
          'access-control-allow-credentials': 'true',
        }),
      ),
    ],
    code: 'analysis.open_cors',
    at: 'actions/0/config',
  },
  {
    name: 'SameSite=None without Secure',
    responses: [rule([], add({ 'set-cookie': 'sid=1; SameSite=None' }))],
    code: 'analysis.dropped_cookie',
    at: 'actions/0/config',
  },
  {
    name: '__Host- cookie with a domain',
    responses: [rule([], add({ 'set-cookie': '__Host-sid=1; Secure; Path=/; Domain=shop.test' }))],
    code: 'analysis.dropped_cookie',
    at: 'actions/0/config',
  },
  {
    name: 'cookie for another domain',
    responses: [rule([], add({ 'set-cookie': 'sid=1; Domain=example.org' }))],
    code: 'analysis.dropped_cookie',
    at: 'actions/0/config',
  },
  {
    name: 'header with an underscore',
    rules: [deny("hasReqHeader('x_debug')")],
    code: 'analysis.dropped_header',
    at: '0/expressions/0',
  },
  {
    name: 'cookie attribute in a condition',
    rules: [deny("getReqCookie('lane').value == 'beta; Path=/'")],
    code: 'analysis.dead_rule',
    at: 'value/on_http_request/0',
  },
  {
    name: 'content type compared with charset',
    rules: [deny("req.content_type == 'application/json; charset=utf-8'")],
    code: 'analysis.dead_rule',
    at: 'value/on_http_request/0',
  },
  {
    name: 'method list as one pattern',
    rules: [deny("req.method.matches('^(get|head)$')")],
    code: 'analysis.dead_rule',
    at: 'value/on_http_request/0',
  },
  {
    name: 'CORS headers twice',
    route: { response_headers: { add: { 'access-control-allow-origin': 'https://a.test' } } },
    responses: [rule([], add({ 'access-control-allow-origin': '*' }))],
    code: 'analysis.refused_cors',
    at: 'actions/0/config',
  },
  {
    name: 'scheme test behind TLS-only redirect',
    shop: { tls_termination: { redirect_http: true } },
    rules: [rule(["req.url.scheme == 'http'"], action('redirect', { from: '^http://', to: 'https://' }))],
    code: 'analysis.dead_rule',
    at: 'value/on_http_request/0',
  },
  {
    name: 'all requests denied by two rules',
    rules: [deny("req.method == 'GET'"), deny("req.method != 'GET'")],
    code: 'analysis.blocked_route',
    at: 'shop/routes/0',
  },
];
