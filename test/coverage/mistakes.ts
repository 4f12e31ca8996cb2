/** Mistakes that people make in configurations: the text of a file, and what is written instead. */
export interface Mistake {
  readonly name: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

const mistake = (name: string, from: string, to: string): Mistake => ({ name, from, to });

/** Of `fixtures/sample/edge.yaml`. */
export const IN_SAMPLE: readonly Mistake[] = [
  mistake('office: a shorter mask', 'cidr: 203.0.113.0/24', 'cidr: 203.0.112.0/23'),
  mistake('office: a longer mask', 'cidr: 203.0.113.0/24', 'cidr: 203.0.113.0/25'),
  mistake('guests: a longer mask', 'cidr: 203.0.113.128/25', 'cidr: 203.0.113.128/26'),
  mistake('guests: allowed', 'cidr: 203.0.113.128/25, action: deny', 'cidr: 203.0.113.128/25, action: allow'),
  mistake('loopback: denied', 'cidr: 127.0.0.0/8, action: allow', 'cidr: 127.0.0.0/8, action: deny'),
  mistake('loopback: a longer mask', '127.0.0.0/8', '127.0.0.0/9'),
  mistake('IPv6 loopback: a shorter mask', "'::1/128'", "'::/127'"),
  mistake('guests: forgotten', '      - { cidr: 203.0.113.128/25, action: deny }\n', ''),
  mistake('weights: another share', 'app: 9, next: 1', 'app: 8, next: 2'),
  mistake('weights: swapped', 'app: 9, next: 1', 'app: 1, next: 9'),
  mistake('failover: the page first', '[canary, sorry]', '[sorry, canary]'),
  mistake('failover: no page', '[canary, sorry]', '[canary]'),
  mistake('page: another status', 'status_code: 503', 'status_code: 500'),
  mistake('page: another text', 'Back in a minute.', 'Back in an hour.'),
  mistake(
    'page: another type',
    '503, headers: { content-type: text/plain }',
    '503, headers: { content-type: text/html }',
  ),
  mistake('health: another text', '"ok\\n"', '"fine\\n"'),
  mistake('health: a prefix', 'match_type: exact_path', 'match_type: path_prefix'),
  mistake('health: another path', 'match: /healthz', 'match: /health'),
  mistake('shop: no compression', '          compression: {}\n', ''),
  mistake('shop: another header value', 'x-served-by: edgeproof', 'x-served-by: edge'),
  mistake('shop: another header name', 'x-served-by: edgeproof', 'x-served: edgeproof'),
  mistake('shop: the server header stays', '            remove: [server]\n', ''),
  mistake('shop: another removed header', 'remove: [server]', 'remove: [via]'),
  mistake('admin: another path', 'match: /admin', 'match: /admi'),
  mistake('admin: a longer path', 'match: /admin', 'match: /admins'),
  mistake('admin: open to all', '          ip_restriction: { ip_policy_ids: [office] }\n', ''),
  mistake('admin: another agent', "['(?i)curl/']", "['(?i)curl/7']"),
  mistake('admin: letter case counts', "['(?i)curl/']", "['curl/']"),
  mistake('admin: one word fewer', 'bot|crawler|spider', 'bot|crawler'),
  mistake('admin: only whole agents', "'(?i)bot|crawler|spider'", "'(?i)^(?:bot|crawler|spider)$'"),
  mistake('admin: header forgotten', 'x-from-edge: admin', 'x-from-edges: admin'),
  mistake(
    'admin: another backend',
    'x-from-edge: admin }\n          backend: { backend_id: app }',
    'x-from-edge: admin }\n          backend: { backend_id: next }',
  ),
  mistake('api: later', 'volume_threshold: 5', 'volume_threshold: 6'),
  mistake('api: sooner', 'volume_threshold: 5', 'volume_threshold: 4'),
  mistake('api: another share', 'error_threshold_percentage: 0.5', 'error_threshold_percentage: 0.9'),
  mistake('api: longer', 'tripped_duration: 5', 'tripped_duration: 6'),
  mistake('api: shorter', 'tripped_duration: 5', 'tripped_duration: 4'),
  mistake('api: a shorter window', 'rolling_window: 10', 'rolling_window: 5'),
  mistake('host: one fewer', "['shop.test:443', 'shop.localhost:443']", "['shop.test:443']"),
];

const BOTS = `  - name: no bots
    expressions: ["req.user_agent.contains('EvilBot')"]
    actions: [{ type: deny, config: { status_code: 403 } }]
`;
const WRITERS = `  - name: writers
    expressions: ["req.method in ['POST', 'PUT', 'DELETE']", "req.url.path.startsWith('/catalogue')"]
    actions: [{ type: deny, config: { status_code: 405 } }]
`;

/** Of the policy `SHOP`. */
export const SHOP = `on_http_request:
${BOTS}${WRITERS}  - name: large
    expressions: ['req.content_length > 1000']
    actions: [{ type: custom-response, config: { status_code: 413, headers: { x-limit: '1000' }, body: too large } }]
  - name: old shop
    expressions: ["req.url.path.startsWith('/old/')"]
    actions: [{ type: redirect, config: { from: '/old/', to: '/new/', status_code: 301 } }]
  - name: versions
    expressions: ["req.url.path.matches('^/v[0-9]+/items$')"]
    actions: [{ type: url-rewrite, config: { from: '^(https?://[^/]+)/v[0-9]+/', to: '$1/api/' } }]
  - name: partners
    expressions: ["hasReqHeader('x-partner') && !hasQueryParam('guest')"]
    actions:
      - { type: add-headers, config: { headers: { x-tier: gold } } }
      - { type: remove-headers, config: { headers: [x-secret] } }
      - { type: log, config: { metadata: { tier: gold } } }
  - name: admin
    expressions: ["req.url.path.startsWith('/admin')"]
    actions:
      - { type: restrict-ips, config: { allow: ['10.0.0.0/8', '192.0.2.0/24'], deny: ['10.9.0.0/16'] } }
      - { type: basic-auth, config: { realm: back, credentials: ['ann:secret-one'] } }
  - name: search
    expressions: ["req.url.path == '/search'"]
    actions:
      - { type: rate-limit, config: { name: s, algorithm: sliding_window, capacity: 3, rate: 60s, bucket_key: [conn.client_ip] } }
  - name: beta
    expressions: ["hasReqCookie('lane') || req.host == 'beta.test'"]
    actions: [{ type: set-vars, config: { vars: [{ lane: beta }] } }, { type: add-headers, config: { headers: { x-lane: '\${vars.lane}' } } }]
on_http_response:
  - name: errors
    expressions: ['res.status_code >= 500']
    actions:
      - { type: add-headers, config: { headers: { x-incident: 'yes' } } }
      - { type: remove-headers, config: { headers: [x-powered-by] } }
  - name: html
    expressions: ["res.content_type == 'text/html'"]
    actions: [{ type: add-headers, config: { headers: { x-frame-options: DENY } } }]
`;

export const IN_SHOP: readonly Mistake[] = [
  mistake('bots: not denied', 'status_code: 403', 'status_code: 404'),
  mistake('bots: another word', 'EvilBot', 'EvilBots'),
  mistake('bots: part of the word', 'EvilBot', 'Evil'),
  mistake('bots: negated', "req.user_agent.contains('EvilBot')", "!req.user_agent.contains('EvilBot')"),
  mistake('bots: only at the start', "contains('EvilBot')", "startsWith('EvilBot')"),
  mistake('writers: DELETE forgotten', "['POST', 'PUT', 'DELETE']", "['POST', 'PUT']"),
  mistake('writers: POST forgotten', "['POST', 'PUT', 'DELETE']", "['PUT', 'DELETE']"),
  mistake('writers: PUT misspelt', "'PUT'", "'PATCH'"),
  mistake('writers: everywhere', ', "req.url.path.startsWith(\'/catalogue\')"]', ']'),
  mistake('writers: another path', '/catalogue', '/catalog'),
  mistake('writers: another status', 'status_code: 405', 'status_code: 403'),
  mistake('large: at the limit', 'req.content_length > 1000', 'req.content_length >= 1000'),
  mistake('large: one more', 'req.content_length > 1000', 'req.content_length > 1001'),
  mistake('large: another status', 'status_code: 413', 'status_code: 414'),
  mistake('large: another text', 'body: too large', 'body: too big'),
  mistake('large: another header value', "x-limit: '1000'", "x-limit: '100'"),
  mistake('large: another header name', 'x-limit:', 'x-limits:'),
  mistake('old: another target', "to: '/new/'", "to: '/newer/'"),
  mistake('old: a temporary redirect', 'status_code: 301', 'status_code: 302'),
  mistake('old: another prefix', "startsWith('/old/')", "startsWith('/old')"),
  mistake('old: exact', "req.url.path.startsWith('/old/')", "req.url.path == '/old/'"),
  mistake('versions: one digit', "'^/v[0-9]+/items$'", "'^/v[0-9]/items$'"),
  mistake('versions: anything below', "/items$'", "/items'"),
  mistake('versions: anywhere', "'^/v[0-9]+/items$'", "'/v[0-9]+/items$'"),
  mistake('versions: another target', "'$1/api/'", "'$1/apis/'"),
  mistake('partners: or', "hasReqHeader('x-partner') && ", "hasReqHeader('x-partner') || "),
  mistake('partners: guests are partners', ' && !hasQueryParam', ' && hasQueryParam'),
  mistake('partners: another header', "hasReqHeader('x-partner')", "hasReqHeader('x-partners')"),
  mistake('partners: another tier', 'headers: { x-tier: gold }', 'headers: { x-tier: silver }'),
  mistake(
    'partners: the secret is passed on',
    '      - { type: remove-headers, config: { headers: [x-secret] } }\n',
    '',
  ),
  mistake('partners: another secret', '[x-secret]', '[x-secrets]'),
  mistake('partners: not logged', '      - { type: log, config: { metadata: { tier: gold } } }\n', ''),
  mistake('partners: logged otherwise', 'metadata: { tier: gold }', 'metadata: { tier: silver }'),
  mistake('admin: a longer mask', "'10.0.0.0/8'", "'10.0.0.0/9'"),
  mistake('admin: a network forgotten', ", '192.0.2.0/24'", ''),
  mistake('admin: deny forgotten', ", deny: ['10.9.0.0/16']", ''),
  mistake('admin: a smaller deny', "'10.9.0.0/16'", "'10.9.0.0/17'"),
  mistake('admin: only reported', "deny: ['10.9.0.0/16']", "deny: ['10.9.0.0/16'], enforce: false"),
  mistake('admin: another path', "startsWith('/admin')", "startsWith('/admin/')"),
  mistake('admin: another password', 'ann:secret-one', 'ann:secret-two'),
  mistake('admin: another realm', 'realm: back', 'realm: front'),
  mistake(
    'admin: no password',
    "      - { type: basic-auth, config: { realm: back, credentials: ['ann:secret-one'] } }\n",
    '',
  ),
  mistake('search: one more', 'capacity: 3', 'capacity: 4'),
  mistake('search: one fewer', 'capacity: 3', 'capacity: 2'),
  mistake('search: a longer time', 'rate: 60s', 'rate: 70s'),
  mistake('search: one limit for all', 'bucket_key: [conn.client_ip]', 'bucket_key: [req.host]'),
  mistake('search: below, too', "req.url.path == '/search'", "req.url.path.startsWith('/search')"),
  mistake('beta: and', '|| req.host', '&& req.host'),
  mistake('beta: another cookie', "hasReqCookie('lane')", "hasReqCookie('lanes')"),
  mistake('beta: another host', "'beta.test'", "'betas.test'"),
  mistake('beta: another lane', 'lane: beta }', 'lane: alpha }'),
  mistake('errors: at the limit', 'res.status_code >= 500', 'res.status_code > 500'),
  mistake('errors: below, too', 'res.status_code >= 500', 'res.status_code >= 499'),
  mistake('errors: not marked', "x-incident: 'yes'", "x-incident: 'no'"),
  mistake(
    'errors: the powered-by header stays',
    '      - { type: remove-headers, config: { headers: [x-powered-by] } }\n',
    '',
  ),
  mistake('html: another type', "'text/html'", "'text/plain'"),
  mistake('html: another value', 'x-frame-options: DENY', 'x-frame-options: SAMEORIGIN'),
  mistake('order: writers before bots', `${BOTS}${WRITERS}`, `${WRITERS}${BOTS}`),
];

/** Of `fixtures/every_module/edge.yaml`. */
export const IN_EVERY_MODULE: readonly Mistake[] = [
  mistake('shop: plain requests are served', '{ redirect_http: true }', '{}'),
  mistake('shop: another header', 'add: { x-edge: shop }', 'add: { x-edge: store }'),
  mistake('shop: the internal header is passed on', ', remove: [x-internal] }', ' }'),
  mistake('shop: another internal header', '[x-internal]', '[x-intern]'),
  mistake('office: bots', "deny: ['(?i)bot']", "deny: ['(?i)bots']"),
  mistake('office: agents', "allow: ['(?i)mozilla']", "allow: ['mozilla']"),
  mistake(
    'office: no addresses',
    '          ip_restriction: { ip_policy_ids: [office] }\n          user_agent',
    '          user_agent',
  ),
  mistake('fragile: volume', 'volume_threshold: 4', 'volume_threshold: 3'),
  mistake('policy: PUT forgotten', "req.method == 'PUT' || ", ''),
  mistake('policy: and', "req.method == 'PUT' || req", "req.method == 'PUT' && req"),
  mistake('policy: status', 'status_code: 405', 'status_code: 400'),
  mistake('policy: guests', "!hasReqHeader('x-key')", "hasReqHeader('x-key')"),
  mistake('policy: capacity', 'capacity: 2', 'capacity: 1'),
  mistake('policy: rate', 'rate: 60s', 'rate: 70s'),
  mistake('policy: incident', "x-incident: 'yes'", "x-incident: 'no'"),
  mistake('policy: errors', '>= 500', '>= 501'),
  mistake('hook: provider', 'provider: stripe', 'provider: github'),
  mistake('hook: secret', 'whsec_c2VjcmV0', 'whsec_c2VjcmV1'),
  mistake('team: another team', 'acme/platform', 'acme/sales'),
  mistake('team: check later', 'auth_check_interval: 300', 'auth_check_interval: 600'),
  mistake('staff: OPTIONS', 'options_passthrough: true', 'options_passthrough: false'),
  mistake('books: another group', '[accounting]', '[sales]'),
  mistake(
    'partners: no certificate',
    '      mutual_tls: { certificate_authority_ids: [partners] }\n      routes',
    '      routes',
  ),
  mistake(
    'queue: no certificate',
    '      mutual_tls: { certificate_authority_ids: [partners] }\n      backend',
    '      backend',
  ),
  mistake('pg: another country', "'AQ'", "'AX'"),
  mistake(
    'pg: no addresses',
    "      hostports: ['1.tcp.test:5432']\n      ip_restriction: { ip_policy_ids: [office] }\n",
    "      hostports: ['1.tcp.test:5432']\n",
  ),
  mistake('weights', 'app: 3, next: 1', 'app: 1, next: 1'),
];
