import { action, deny, limit, logged, oidc, rule } from './edge_parts.ts';
import type { PlantedMistake } from './planted_mistakes.ts';

const basic = action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] });
const office = { allow: ['10.0.0.0/8', 'fd00::/8'] };
const add = (headers: object) => action('add-headers', { headers });
const remove = (...headers: readonly string[]) => action('remove-headers', { headers });
/** Internal endpoints of a template are not looked up in the file. */
const inside = { url: 'https://${req.host}.internal' };
const limited = (more: object, ...key: readonly string[]) =>
  action('rate-limit', { ...limit(...key), ...more });
const login = action('openid-connect', {
  issuer_url: oidc.issuer,
  client_id: 'a',
  client_secret: "${secrets.get('v','s')}",
  scopes: ['openid'],
  max_session_duration: '1h',
});

/** Mistakes about what earlier actions did, headers that clients choose, results, and spellings that do not occur. */
export const HEADER_MISTAKES: readonly PlantedMistake[] = [
  {
    name: 'a key that is removed before it is asked for',
    rules: [rule([], remove('x-api-key')), deny("!hasReqHeader('x-api-key')")],
    code: 'analysis.blocked_route',
    at: 'routes/0',
  },
  {
    name: 'a value of a header that was removed',
    rules: [
      rule([], remove('X-Role')),
      rule(["getReqHeader('x-role').exists(r, r == 'admin')"], add({ 'x-admin': 'yes' })),
    ],
    code: 'analysis.dead_rule',
    at: 'on_http_request/1',
  },
  {
    name: 'a header that the edge itself has added',
    rules: [rule([], add({ 'x-edge': '1' })), deny("!hasReqHeader('x-edge')")],
    code: 'analysis.dead_rule',
    at: 'on_http_request/1',
  },
  {
    name: 'the result of a limit before it',
    rules: [
      logged("has(actions.service.rate_limit) && actions.service.rate_limit.error.code != ''"),
      rule([], limited({ enforce: false }, 'conn.client_ip')),
    ],
    code: 'analysis.dead_rule',
    at: 'on_http_request/0',
  },
  {
    name: 'the identity before the login',
    rules: [
      rule(["actions.service.oidc.identity.email.endsWith('@acme.test')"], add({ 'x-staff': '1' })),
      rule([], login),
    ],
    code: 'analysis.dead_rule',
    at: 'on_http_request/0',
  },
  {
    name: 'an internal header as a gate',
    rules: [deny("!('x-internal' in req.headers)")],
    code: 'analysis.header_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'a role that clients name',
    rules: [deny("!getReqHeader('x-user-role').exists(r, r == 'admin')")],
    code: 'analysis.header_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'a login for other than internal requests',
    rules: [rule(["!hasReqHeader('x-internal-request')"], basic)],
    code: 'analysis.header_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'signatures of JSON only',
    rules: [
      rule(
        ["req.method == 'POST' && req.content_type == 'application/json'"],
        action('verify-webhook', { provider: 'github', secret: "${secrets.get('v','s')}" }),
      ),
    ],
    code: 'analysis.header_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'an address gate by the host as sent',
    rules: [rule(["req.host == 'shop.test'"], action('restrict-ips', office))],
    code: 'analysis.spelling_bypass',
    at: 'on_http_request/0',
  },
  {
    name: 'a limit by a cookie',
    rules: [rule(["'sid' in req.cookies"], limited({}, "getReqCookie('sid').value"))],
    code: 'analysis.forged_field',
    at: '0/actions/0/config',
  },
  {
    name: 'a limit by the name that clients give',
    rules: [rule(["hasReqHeader('x-client-id')"], limited({}, "getReqHeader('x-client-id')[0]"))],
    code: 'analysis.forged_field',
    at: '0/actions/0/config',
  },
  {
    name: 'a limit behind a stricter one',
    rules: [
      rule([], limited({ capacity: 10 }, 'conn.client_ip')),
      rule(["req.method == 'POST'"], limited({ capacity: 1_000, name: 'writes' }, 'conn.client_ip')),
    ],
    code: 'analysis.idle_limit',
    at: '1/actions/0',
  },
  {
    name: 'request headers behind a policy that forwards everything',
    rules: [deny("req.method == 'TRACE'"), rule([], action('forward-internal', inside))],
    route: { request_headers: { add: { 'x-edge': 'shop' } } },
    code: 'analysis.forwarded_before',
    at: 'routes/0/request_headers',
  },
  {
    name: 'a circuit breaker behind a policy that forwards everything',
    rules: [rule([], action('forward-internal', inside))],
    route: { circuit_breaker: { volume_threshold: 50, error_threshold_percentage: 0.2 } },
    code: 'analysis.forwarded_before',
    at: 'routes/0/circuit_breaker',
  },
  {
    name: 'a dry run that nothing reads',
    rules: [rule([], action('restrict-ips', { ...office, enforce: false }))],
    code: 'analysis.unread_result',
    at: '0/actions/0',
  },
  {
    name: 'a refusal in the response phase, by the address',
    responses: [
      rule(["!inCidrRange(conn.client_ip, '10.0.0.0/8')"], action('custom-response', { status_code: 403 })),
    ],
    code: 'analysis.late_gate',
    at: '0/actions/0',
  },
  {
    name: 'a refusal in the response phase, by a header',
    responses: [rule(["!hasReqHeader('authorization')"], action('custom-response', { status_code: 401 }))],
    code: 'analysis.late_gate',
    at: '0/actions/0',
  },
  {
    name: 'an allow list of agents alone',
    route: { user_agent_filter: { allow: ['^corp-agent/'] } },
    code: 'analysis.unneeded_pattern',
    at: 'allow/0',
  },
  {
    name: 'an allowed agent that no pattern denies',
    route: { user_agent_filter: { allow: ['^corp-agent/$'], deny: ['(?i)bot'] } },
    code: 'analysis.unneeded_pattern',
    at: 'allow/0',
  },
  {
    name: 'an agent with a line break',
    route: { user_agent_filter: { deny: ['^bot\n'] } },
    code: 'analysis.dead_pattern',
    at: 'deny/0',
  },
  {
    name: 'a bare dot before an ending',
    rules: [deny("req.url.path.matches('.php$')")],
    code: 'analysis.unescaped_dot',
    at: '0/expressions/0',
  },
  {
    name: 'a bare dot before several endings',
    rules: [deny("req.url.path.matches('^/static/.*.(php|cgi)$')")],
    code: 'analysis.unescaped_dot',
    at: '0/expressions/0',
  },
  {
    name: 'encoded dots, which are never in a path',
    rules: [deny("req.url.path.contains('%2e%2e')")],
    code: 'analysis.dead_path',
    at: 'on_http_request/0',
  },
  {
    name: 'an encoding in lower case',
    rules: [logged("req.url.path.startsWith('/caf%c3%a9')")],
    code: 'analysis.dead_rule',
    at: 'on_http_request/0',
  },
  {
    name: 'an encoded control character',
    rules: [logged("req.url.path.contains('%0A')")],
    code: 'analysis.dead_rule',
    at: 'on_http_request/0',
  },
  {
    name: 'a denied path behind one that is answered',
    rules: [
      rule(["req.url.path.startsWith('/api')"], action('custom-response', { status_code: 200 })),
      deny("req.url.path.startsWith('/api/internal')"),
    ],
    code: 'analysis.dead_path',
    at: 'on_http_request/1',
  },
  {
    name: 'a version of TLS in other words',
    rules: [logged("has(conn.tls.version) && conn.tls.version == 'TLS 1.3'")],
    code: 'expr.impossible_text',
    at: 'on_http_request/0/expressions/0',
  },
  {
    name: 'a protocol in capitals',
    rules: [logged("endpoint.protocol == 'HTTPS'")],
    code: 'expr.impossible_text',
    at: 'on_http_request/0/expressions/0',
  },
];

/** The same done right. */
export const HEADERS_DONE_RIGHT: readonly Omit<PlantedMistake, 'code' | 'at'>[] = [
  {
    name: 'a header that only clients may not send',
    rules: [deny("hasReqHeader('x-internal')"), rule([], add({ 'x-internal': '1' }))],
  },
  { name: 'requests without credentials', rules: [deny("!hasReqHeader('authorization')"), rule([], basic)] },
  { name: 'a shared key', rules: [deny("!hasReqHeader('x-internal-key')")] },
  {
    name: 'a value beside those of the client',
    rules: [
      rule([], add({ 'x-lane': 'a' })),
      rule(["getReqHeader('x-lane').exists(r, r == 'b')"], add({ 'x-b': '1' })),
    ],
  },
  {
    name: 'a dry run that is logged',
    rules: [
      rule([], action('restrict-ips', { ...office, enforce: false })),
      logged("actions.service.restrict_ips.action == 'deny'"),
    ],
  },
  {
    name: 'a limit by a key',
    rules: [rule(["hasReqHeader('x-api-key')"], limited({}, "getReqHeader('x-api-key')[0]"))],
  },
  {
    name: 'a burst and a sustained rate',
    rules: [
      rule([], limited({ capacity: 10, rate: '60s' }, 'conn.client_ip')),
      rule([], limited({ capacity: 100, rate: '120m', name: 'sustained' }, 'conn.client_ip')),
    ],
  },
  {
    name: 'request headers for requests that are not forwarded, and a breaker for failures of forwards',
    rules: [
      rule(["req.url.path.startsWith('/api')"], action('forward-internal', inside)),
      rule([], action('forward-internal', { ...inside, on_error: 'continue' })),
    ],
    route: {
      request_headers: { add: { 'x-edge': 'shop' } },
      circuit_breaker: { volume_threshold: 50, error_threshold_percentage: 0.2 },
    },
  },
  {
    name: 'response headers behind a policy that forwards everything',
    rules: [rule([], action('forward-internal', inside))],
    route: { response_headers: { add: { 'x-edge': 'shop' } } },
  },
  {
    name: 'a page for errors of the backend',
    responses: [
      rule(
        ["res.status_code == 401 && !hasReqHeader('authorization')"],
        action('custom-response', { status_code: 403 }),
      ),
    ],
  },
  {
    name: 'agents that outweigh a denied pattern',
    route: { user_agent_filter: { allow: ['^GoodBot/'], deny: ['(?i)bot'] } },
  },
  { name: 'endings', rules: [deny("req.url.path.matches('[.](?:php|cgi)$')")] },
  { name: 'an encoding in upper case', rules: [logged("req.url.path.startsWith('/caf%C3%A9')")] },
  { name: 'TLS 1.2', rules: [logged("has(conn.tls.version) && conn.tls.version == 'TLSv1.2'")] },
];
