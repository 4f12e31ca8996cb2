import { action, deny, gate, limit, logged, oidc, ranges, route, rule } from './edge_parts.ts';
import type { PlantedMistake } from './planted_mistakes.ts';

/** Configurations without a mistake: nothing is found. */
export const CORRECT: readonly Omit<PlantedMistake, 'code' | 'at'>[] = [
  { name: 'bots by name', route: { user_agent_filter: { deny: ['(?i)bot', '(?i)crawler/'] } } },
  {
    name: 'an allow list of agents',
    route: { user_agent_filter: { allow: ['^curl/', '^Mozilla/5\\.0 '], deny: ['.*'] } },
  },
  {
    name: 'office and VPN',
    route: gate,
    more: ranges('203.0.113.0/24', '2001:db8::/32', '-203.0.113.66/32'),
  },
  {
    name: 'an admin gate by prefix',
    routes: [route('/admin', { ...gate, backend: { backend_id: 'ops' } })],
    backends: { ops: { static: { address: 'localhost:3001' } } },
    more: ranges('10.0.0.0/8'),
  },
  {
    name: 'www to apex',
    hostports: ['shop.test:443', 'www.shop.test:443'],
    rules: [
      rule(
        ["req.url.host == 'www.shop.test'"],
        action('redirect', { from: '^https?://www\\.shop\\.test', to: 'https://shop.test' }),
      ),
    ],
  },
  {
    name: 'plain HTTP to HTTPS',
    rules: [rule(["req.url.scheme == 'http'"], action('redirect', { from: '^http://', to: 'https://' }))],
  },
  {
    name: 'old to new',
    rules: [
      rule(
        ["req.url.path.startsWith('/old/')"],
        action('redirect', { from: '/old/', to: '/new/', status_code: 301 }),
      ),
      deny("req.url.path.startsWith('/new/secret')"),
    ],
  },
  {
    name: 'a version prefix',
    rules: [rule(["req.url.path.startsWith('/api/')"], action('url-rewrite', { from: '/api/', to: '/v2/' }))],
  },
  { name: 'methods of an API', rules: [deny("!(req.method in ['GET', 'HEAD', 'POST'])")] },
  {
    name: 'a token for writes',
    rules: [deny("req.method in ['POST', 'PUT', 'DELETE'] && !hasReqHeader('authorization')")],
  },
  {
    name: 'maintenance page',
    rules: [
      rule(
        ["!inCidrRange(conn.client_ip, '203.0.113.0/24')"],
        action('custom-response', { status_code: 503, body: 'back soon' }),
      ),
    ],
  },
  { name: 'a canary by chance', rules: [logged('rand.double() < 0.1')] },
  { name: 'JSON only', rules: [deny("req.method == 'POST' && req.content_type != 'application/json'")] },
  { name: 'large uploads', rules: [deny('has(req.content_length) && req.content_length > 10000000')] },
  {
    name: 'a login with a session',
    route: { oidc: { ...oidc, inactivity_timeout: 1800, maximum_duration: 43200 } },
  },
  {
    name: 'static files',
    routes: [route('/static/', { compression: {} }), route('/api/', { circuit_breaker: {} })],
  },
  {
    name: 'a limit for each client',
    rules: [
      rule(
        [],
        action('rate-limit', {
          name: 'n',
          algorithm: 'sliding_window',
          capacity: 100,
          rate: '60s',
          bucket_key: ['conn.client_ip'],
        }),
      ),
    ],
  },
  {
    name: 'a drained backend',
    routes: [route('/w', { backend: { backend_id: 'w' } })],
    backends: { b: { static: { address: 'localhost:3001' } }, w: { weighted: { app: 9, b: 1 } } },
  },
  {
    name: 'a fallback page',
    routes: [route('/s', { backend: { backend_id: 'safe' } })],
    backends: {
      sorry: { http_response: { status_code: 503, body: 'x' } },
      safe: { failover: ['app', 'sorry'] },
    },
  },
  { name: 'hidden files', rules: [deny("req.url.path.contains('/.git') || req.url.path.contains('/.env')")] },
  {
    name: 'a pattern for versions',
    rules: [logged("req.url.path.matches('^/v[0-9]+/users/[a-f0-9-]{36}$')")],
  },
  {
    name: 'tenants by host',
    hostports: ['*.shop.test:443'],
    rules: [logged("req.url.host.matches('^[a-z0-9-]+[.]shop[.]test$')")],
  },
  { name: 'countries', rules: [deny("conn.client_ip in ['192.0.2.7', '192.0.2.8', '2001:db8::7']")] },
  {
    name: 'cookies of a test group',
    rules: [
      rule(
        ["hasReqCookie('beta') && getReqCookie('beta').value == 'yes'"],
        action('add-headers', { headers: { 'x-beta': '1' } }),
      ),
    ],
  },
  {
    name: 'query by version',
    rules: [deny("hasQueryParam('version') && getQueryParam('version')[0] == '1'")],
  },
  {
    name: 'well-known files without a login',
    rules: [
      rule(
        ["!req.url.path.startsWith('/.well-known/')"],
        action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] }),
      ),
    ],
  },
  { name: 'an issuer of a tenant', route: { oidc: { ...oidc, issuer: 'https://login.test/tenant/v2.0' } } },
  { name: 'an agent with a slash', route: { user_agent_filter: { deny: ['^Scanner/1/'] } } },
  {
    name: 'private ranges',
    route: gate,
    more: ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'),
  },
  { name: 'an encoded slash', rules: [deny("req.url.path.contains('%2F')")] },
  {
    name: 'a link to a canonical URL',
    rules: [rule(["req.url.path == '/index.html'"], action('redirect', { to: 'https://shop.test/' }))],
  },
  { name: 'a limit by client', rules: [rule([], action('rate-limit', limit("'v1'", 'conn.client_ip')))] },
  {
    name: 'another weight',
    route: { backend: { backend_id: 'both' } },
    backends: { both: { weighted: { app: 99, new: 1 } }, new: { static: { address: 'localhost:3001' } } },
  },
  {
    name: 'HTTPS for all',
    rules: [
      rule(
        ["req.url.scheme == 'http' && req.url.path == '/a'"],
        action('redirect', { to: 'https://shop.test/a' }),
      ),
    ],
  },
  {
    name: 'no query',
    rules: [
      rule(
        ["req.url.path == '/a' && req.url.query != ''"],
        action('redirect', { to: 'https://shop.test/a' }),
      ),
    ],
  },
  {
    name: 'a group that moves',
    rules: [rule([], action('url-rewrite', { from: '/a/(.*)', to: '/b/$1' }))],
  },
  {
    name: 'CORS for one origin',
    rules: [
      rule(
        ["req.method == 'OPTIONS'"],
        action('custom-response', {
          status_code: 204,
          headers: {
            'access-control-allow-origin': 'https://app.test',
            'access-control-allow-credentials': 'true',
          },
        }),
      ),
    ],
    responses: [
      rule(
        ["hasReqHeader('origin') && getReqHeader('origin')[0] in ['https://app.test', 'https://b.test']"],
        action('add-headers', {
          headers: {
            'access-control-allow-origin': "${getReqHeader('origin')[0]}",
            'access-control-allow-credentials': 'true',
          },
        }),
      ),
    ],
  },
  {
    name: 'CORS for everyone without credentials',
    responses: [rule([], action('add-headers', { headers: { 'access-control-allow-origin': '*' } }))],
  },
  {
    name: 'origins by a pattern',
    rules: [deny("!getReqHeader('origin').all(o, o.matches('^https://[a-z]+[.]shop[.]test$'))")],
  },
  {
    name: 'cookies with their attributes',
    responses: [
      rule(
        [],
        action('add-headers', { headers: { 'set-cookie': '__Host-sid=1; Secure; Path=/; SameSite=None' } }),
      ),
    ],
  },
  {
    name: 'AI bots',
    rules: [deny("req.user_agent.matches('(?i)(chatgpt-user|gptbot|claudebot)')")],
  },
  {
    name: 'webhooks without a login',
    rules: [
      rule(
        ["!req.url.path.startsWith('/webhook/')"],
        action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] }),
      ),
      rule(
        ["req.url.path.startsWith('/webhook/')"],
        action('verify-webhook', { provider: 'github', secret: "${secrets.get('v','s')}" }),
      ),
    ],
  },
  {
    name: 'the office without a login',
    rules: [
      rule(
        ["!inCidrRange(conn.client_ip, '203.0.113.0/24')"],
        action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] }),
      ),
    ],
  },
  {
    name: 'a key or a login',
    rules: [
      rule(
        ["!hasReqHeader('x-api-key')"],
        action('basic-auth', { credentials: ["${secrets.get('v','u')}:${secrets.get('v','p')}"] }),
      ),
      deny("hasReqHeader('x-api-key') && getReqHeader('x-api-key')[0] != 'k1'"),
    ],
  },
  {
    name: 'two shares of requests',
    rules: [logged('rand.double() < 0.1'), logged('rand.double() < 0.5')],
  },
  {
    name: 'a limit by key and client',
    rules: [rule([], action('rate-limit', limit("getReqHeader('x-api-key').join(',')", 'conn.client_ip')))],
  },
  {
    name: 'a header that is replaced',
    route: { request_headers: { add: { 'x-edge': '1' }, remove: ['x-edge'] } },
  },
  {
    name: 'a rewrite of a prefix',
    rules: [rule(["req.url.path.startsWith('/api/')"], action('url-rewrite', { from: '/api/', to: '/' }))],
  },
  {
    name: 'maintenance for all',
    rules: [rule([], action('custom-response', { status_code: 503, body: 'back soon' }))],
  },
  {
    name: 'all to another host',
    rules: [rule([], action('redirect', { from: '^https?://shop.test', to: 'https://new.test' }))],
  },
  {
    name: 'plain HTTP is redirected',
    shop: { tls_termination: { redirect_http: true } },
    rules: [deny("req.url.path == '/a'")],
  },
];
