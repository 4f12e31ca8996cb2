import type { DocumentCode } from './code.ts';

const header = (count: number): string =>
  Array.from({ length: count }, (_, index) => `            x-${index + 1}: 'yes'`).join('\n');

const query = (count: number): string =>
  Array.from({ length: count }, (_, index) => `            - { key: k${index + 1}, value: v }`).join('\n');

/** A request rule with these actions. */
const request = (action: string): string => `on_http_request:\n  - actions:\n${action}`;

/** A request rule with one action: its type and, in one line, its config. */
const action = (text: string): string => {
  const [, type, config] = /^(\S+) (.+)$/.exec(text)!;
  return request(`      - type: ${type}\n        config: ${config}\n`);
};

// table: codes with their examples
export const DOCUMENT_CODES: readonly DocumentCode[] = [
  {
    number: 385,
    title: 'openid-connect without a client id',
    means: 'A login at an OpenID provider needs the client id of an app that is registered there.',
    bad: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_secret: \${secrets.get('login', 'secret')}
`),
    good: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`),
  },
  {
    number: 386,
    title: 'openid-connect without a client secret',
    means: 'A login at an OpenID provider needs the client secret of an app that is registered there.',
    bad: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
`),
    good: request(`      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`),
  },
  {
    number: 393,
    title: 'Denied addresses without allowed ones',
    means:
      'An address passes restrict-ips only if a range allows it and none denies it. With denied ranges only, no address would pass: allow all others explicitly.',
    bad: action('restrict-ips { deny: [192.0.2.0/24] }'),
    good: action(`restrict-ips { allow: [0.0.0.0/0, '::/0'], deny: [192.0.2.0/24] }`),
  },
  {
    number: 2200,
    title: 'Invalid expression',
    means:
      'A condition or a key is not a valid expression in its phase: a syntax error, an unknown name, wrong types, or a result that is not a bool. In YAML an expression that begins with `!`, `"` or `\'`, or contains `: ` or ` #`, needs quotes.',
    bad: `on_http_request:
  - expressions: ["req.metod == 'POST'"]
    actions: [{ type: deny }]
`,
    good: `on_http_request:
  - expressions: ["req.method == 'POST'"]
    actions: [{ type: deny }]
`,
  },
  {
    number: 2201,
    title: 'Unknown action type',
    means: 'This action type does not exist. Types are lower-case words joined by dashes.',
    bad: request('      - type: rate-limits\n'),
    good: request('      - type: deny\n'),
  },
  {
    number: 2202,
    title: 'Action not allowed in this phase',
    means: 'Each action runs only in certain phases: a response cannot be compressed before it exists.',
    bad: request('      - type: compress-response\n'),
    good: `on_http_response:
  - actions:
      - type: compress-response
`,
  },
  {
    number: 2203,
    title: 'Config cannot be parsed',
    means:
      "A field of the action's config is unknown, duplicate, or of the wrong type. Strings that look like numbers need quotes, numbers must not have any.",
    bad: action('deny { status: 404 }'),
    good: action('deny { status_code: 404 }'),
  },
  {
    number: 2204,
    title: 'Invalid value',
    means: 'The value has the right type, but not the format that the field requires.',
    bad: request(`      - type: rate-limit
        config:
          name: per-client
          algorithm: sliding_window
          capacity: 30
          rate: 65s
          bucket_key: [conn.client_ip]
`),
    good: request(`      - type: rate-limit
        config:
          name: per-client
          algorithm: sliding_window
          capacity: 30
          rate: 70s
          bucket_key: [conn.client_ip]
`),
  },
  {
    number: 2205,
    title: 'Action does not fit the protocol',
    means: 'The protocol of the endpoint does not support the action.',
    carriedBy: 'tcp_edge',
    bad: `on_tcp_connect:
  - actions:
      - type: terminate-tls
`,
    good: `on_tcp_connect:
  - actions:
      - type: log
        config: { metadata: { client: '\${conn.client_ip}' } }
`,
  },
  {
    number: 2206,
    title: 'Rule without actions',
    means: 'A rule without actions has no effect: each needs at least one.',
    bad: `on_http_request:
  - name: nothing
    actions: []
`,
    good: `on_http_request:
  - name: something
    actions: [{ type: deny }]
`,
  },
  {
    number: 2207,
    title: 'Action can never run',
    means:
      'An earlier action in the same rule always ends the phase: deny, close-connection, custom-response and forward-internal do.',
    bad: request(`      - type: deny
      - type: log
        config: { metadata: { path: '\${req.url.path}' } }
`),
    good: request(`      - type: log
        config: { metadata: { path: '\${req.url.path}' } }
      - type: deny
`),
  },
  {
    number: 2208,
    title: 'Header name too long',
    means: 'Header names have at most 256 characters.',
    bad: action(`remove-headers { headers: [x-${'long'.repeat(70)}] }`),
    good: action('remove-headers { headers: [x-long] }'),
  },
  {
    number: 2209,
    title: 'Header value too long',
    means: 'Header values have at most 8192 characters.',
    bad: action(`add-headers { headers: { x-long: '${'long'.repeat(2100)}' } }`),
    good: action(`add-headers { headers: { x-long: 'long' } }`),
  },
  {
    number: 2210,
    title: 'Invalid header name',
    means:
      'The name is not a valid header name, or policies must not set the header: User-Agent and connection-specific headers (Connection, Content-Length, Transfer-Encoding and others).',
    bad: action(`add-headers { headers: { 'x lane': beta } }`),
    good: action('add-headers { headers: { x-lane: beta } }'),
  },
  {
    number: 2211,
    title: 'Invalid header value',
    means: 'The value has line breaks or other characters that are not allowed in headers.',
    bad: action(`add-headers { headers: { x-lane: "beta\\nset-cookie: a=b" } }`),
    good: action('add-headers { headers: { x-lane: beta } }'),
  },
  {
    number: 2212,
    title: 'Too many headers',
    means: 'One action can add or remove at most ten headers. Use a second action for more.',
    bad: request(`      - type: add-headers
        config:
          headers:
${header(11)}
`),
    good: request(`      - type: add-headers
        config:
          headers:
${header(10)}
`),
  },
  {
    number: 2214,
    title: 'Unknown compression algorithm',
    means: 'Supported algorithms are gzip, deflate, br, compress and, as an addition, zstd.',
    bad: `on_http_response:
  - actions:
      - type: compress-response
        config: { algorithms: [gzip, brotli] }
`,
    good: `on_http_response:
  - actions:
      - type: compress-response
        config: { algorithms: [gzip, br] }
`,
  },
  {
    number: 2215,
    title: 'Number out of range',
    means: 'The number is below the minimum or above the maximum of the field.',
    bad: action('deny { status_code: 200 }'),
    good: action('deny { status_code: 403 }'),
  },
  {
    number: 2216,
    title: 'Unknown IP policy',
    means: 'The action refers to an IP policy that does not exist.',
    ipPolicies: ['office', 'partners'],
    bad: action('restrict-ips { ip_policies: [ofice] }'),
    good: action('restrict-ips { ip_policies: [office] }'),
  },
  {
    number: 2217,
    title: 'Invalid address range',
    means: 'A range is an address with a prefix length, without bits set beyond the prefix.',
    bad: action('restrict-ips { allow: [192.0.2.1/24] }'),
    good: action('restrict-ips { allow: [192.0.2.0/24] }'),
  },
  {
    number: 2218,
    title: 'Too many entries',
    means: 'The list has more entries than the field allows.',
    bad: request(`      - type: rate-limit
        config:
          name: per-everything
          algorithm: sliding_window
          capacity: 30
          rate: 60s
          bucket_key: [req.host, req.method, req.url.path, req.url.query, req.version, conn.client_ip, conn.server_ip, endpoint.id, endpoint.host, endpoint.url, endpoint.addr]
`),
    good: request(`      - type: rate-limit
        config:
          name: per-client
          algorithm: sliding_window
          capacity: 30
          rate: 60s
          bucket_key: [req.host, conn.client_ip]
`),
  },
  {
    number: 2219,
    title: 'Field cannot be configured',
    means: 'The service sets this field. Omit it.',
    bad: action('circuit-breaker { num_buckets: 32 }'),
    good: action('circuit-breaker { window_duration: 30s }'),
  },
  {
    number: 2221,
    title: 'Text too long',
    means: 'The text has more characters than the field allows.',
    bad: request(`      - type: basic-auth
        config:
          credentials: ["ann:\${secrets.get('team', 'ann')}"]
          realm: ${'staff '.repeat(22)}only
`),
    good: request(`      - type: basic-auth
        config:
          credentials: ["ann:\${secrets.get('team', 'ann')}"]
          realm: staff only
`),
  },
  {
    number: 2222,
    title: 'Value not allowed',
    means: 'The field only allows certain values.',
    bad: action(`redirect { from: '^http:', to: 'https:', status_code: 300 }`),
    good: action(`redirect { from: '^http:', to: 'https:', status_code: 301 }`),
  },
  {
    number: 2223,
    title: 'Empty value',
    means: 'The field is present but empty.',
    bad: action('add-headers { headers: {} }'),
    good: action('add-headers { headers: { x-lane: beta } }'),
  },
  {
    number: 2224,
    title: 'Template does not compile',
    means: 'An expression between `${` and `}` is invalid. Write a literal `${` as `$${`.',
    bad: action(`custom-response { body: 'Hello, \${req.hots}!' }`),
    good: action(`custom-response { body: 'Hello, \${req.host}!' }`),
  },
  {
    number: 2225,
    title: 'Duration out of range',
    means:
      'The duration is below the minimum or above the maximum of the field. A bare number counts nanoseconds: add a unit.',
    bad: action('circuit-breaker { tripped_duration: 5m }'),
    good: action('circuit-breaker { tripped_duration: 2m }'),
  },
  {
    number: 2226,
    title: 'Not a URL',
    means: 'The field needs an absolute URL with its scheme.',
    bad: action('forward-internal { url: app.internal }'),
    good: action('forward-internal { url: https://app.internal }'),
  },
  {
    number: 2227,
    title: 'No OpenID discovery',
    means:
      'The discovery document of a provider is below its issuer, so an issuer has neither a query nor a fragment (OpenID Connect Discovery 1.0 §3). The service also fetches that document; this checker does not.',
    bad: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test?tenant=shop
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`,
    good: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test/shop
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
`,
  },
  {
    number: 2228,
    title: 'Value cannot be parsed',
    means: 'The value does not have the syntax of the field, such as a duration (1h30m) or PEM.',
    bad: action('http-request { url: https://audit.internal, timeout: 3 seconds }'),
    good: action('http-request { url: https://audit.internal, timeout: 3s }'),
  },
  {
    number: 2230,
    title: 'Phase does not fit the protocol',
    means: 'TCP and TLS edges do not parse HTTP: only on_tcp_connect runs there.',
    carriedBy: 'tcp_edge',
    bad: `on_http_request:
  - actions: [{ type: deny }]
`,
    good: `on_tcp_connect:
  - actions: [{ type: deny }]
`,
  },
  {
    number: 2231,
    title: 'Duplicate value',
    means: 'The values of this field must be unique.',
    bad: `on_http_response:
  - actions:
      - type: compress-response
        config: { algorithms: [gzip, br, gzip] }
`,
    good: `on_http_response:
  - actions:
      - type: compress-response
        config: { algorithms: [gzip, br] }
`,
  },
  {
    number: 2234,
    title: 'Required field missing',
    means: 'The field is required.',
    bad: action('url-rewrite { from: /v1/ }'),
    good: action('url-rewrite { from: /v1/, to: /api/1/ }'),
  },
  {
    number: 2235,
    title: 'Policy without an end',
    means:
      'A cloud endpoint has no backend: every path through its policy must end in an action that responds or forwards, so the last rule must have no expressions. Edges have a backend for that.',
    carriedBy: 'cloud_endpoint',
    bad: `on_http_request:
  - expressions: ["req.url.path.startsWith('/app')"]
    actions: [{ type: forward-internal, config: { url: https://app.internal } }]
`,
    good: `on_http_request:
  - expressions: ["req.url.path.startsWith('/app')"]
    actions: [{ type: forward-internal, config: { url: https://app.internal } }]
  - actions: [{ type: deny, config: { status_code: 404 } }]
`,
  },
  {
    number: 2236,
    title: 'Policy cannot be parsed',
    means:
      'The text is not YAML or JSON, or not a policy: a map of phases, each a list of rules, each a map with name, expressions and actions.',
    bad: `on_http_request:
  expressions: ["req.method == 'POST'"]
  actions: [{ type: deny }]
`,
    good: `on_http_request:
  - expressions: ["req.method == 'POST'"]
    actions: [{ type: deny }]
`,
  },
  {
    number: 2237,
    title: 'Text too short',
    means: 'The text has fewer characters than the field requires. Passwords of basic-auth have at least 8.',
    bad: action(`basic-auth { credentials: ['ann:secret'] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
  },
  {
    number: 2239,
    title: 'More than one login',
    means: 'A policy can have only one login action: oauth, openid-connect or saml.',
    bad: request(`      - type: oauth
        config: { provider: google }
      - type: oauth
        config: { provider: github }
`),
    good: action('oauth { provider: google }'),
  },
  {
    number: 2240,
    title: 'Field needs another',
    means: 'Two fields are required together, and only one of them is present.',
    bad: action('oauth { provider: google, client_id: shop }'),
    good: action(
      `oauth { provider: google, client_id: shop, client_secret: "\${secrets.get('login', 'google')}" }`,
    ),
  },
  {
    number: 2241,
    title: 'Domain of another endpoint',
    means: 'Browsers take the cookie of a login only if its domain is that of the endpoint, or one above it.',
    hosts: ['shop.example.test'],
    bad: request(`      - type: oauth
        config: { provider: google, auth_cookie_domain: example.org }
`),
    good: request(`      - type: oauth
        config: { provider: google, auth_cookie_domain: example.test }
`),
  },
  {
    number: 2242,
    title: 'Invalid Punycode',
    means: 'A label that begins with `xn--` has to be the Punycode of a name in another script (RFC 3492).',
    bad: request(`      - type: oauth
        config: { provider: google, auth_cookie_domain: xn--bcher-kvb.example.test }
`),
    good: request(`      - type: oauth
        config: { provider: google, auth_cookie_domain: xn--bcher-kva.example.test }
`),
  },
  {
    number: 2243,
    title: 'Not a domain',
    means:
      'The cookie domain of a login is a domain name of at least two labels, without scheme, port and path.',
    bad: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
          auth_cookie_domain: https://example.test
`,
    good: `on_http_request:
  - actions:
      - type: openid-connect
        config:
          issuer_url: https://login.example.test
          client_id: shop
          client_secret: \${secrets.get('login', 'secret')}
          auth_cookie_domain: example.test
`,
  },
  {
    number: 2244,
    title: 'Too many query parameters',
    means: 'An http-request can have at most 32 query parameters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params:
${query(33)}
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params:
${query(32)}
`),
  },
  {
    number: 2245,
    title: 'Name of a query parameter too long',
    means: 'Names of query parameters have at most 128 characters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: ${'long'.repeat(33)}, value: v }]
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: long, value: v }]
`),
  },
  {
    number: 2246,
    title: 'Value of a query parameter too long',
    means: 'Values of query parameters have at most 8192 characters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: k, value: ${'long'.repeat(2100)} }]
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: k, value: long }]
`),
  },
  {
    number: 2248,
    title: 'HTTPS edges have no on_tcp_connect',
    means: 'Connection rules run on TLS and TCP edges. On an HTTPS edge, move them to on_http_request.',
    carriedBy: 'https_edge',
    bad: `on_tcp_connect:
  - actions: [{ type: deny }]
`,
    good: `on_http_request:
  - actions: [{ type: deny }]
`,
  },
  {
    number: 2250,
    title: 'Nested too deeply',
    means: 'Values of variables and log records can have at most ten levels of lists and maps.',
    bad: action('set-vars { vars: [{ deep: [[[[[[[[[[[1]]]]]]]]]]] }] }'),
    good: action('set-vars { vars: [{ deep: [[1]] }] }'),
  },
  {
    number: 2252,
    title: 'Invalid form of set-vars',
    means: 'Variables are a list in the order of assignment; each entry is a map with exactly one key.',
    bad: action('set-vars { vars: { lane: beta } }'),
    good: action('set-vars { vars: [{ lane: beta }] }'),
  },
  {
    number: 2256,
    title: 'Action not in the plan',
    means: 'The plan of the account does not include the action.',
    plan: { withoutActions: ['circuit-breaker'] },
    bad: `on_http_request:
  - actions: [{ type: circuit-breaker }]
`,
    good: `on_http_request:
  - actions: [{ type: deny }]
`,
  },
  {
    number: 2257,
    title: 'Invalid user name',
    means: 'The user name of a credential must not be empty or contain control characters (RFC 7617).',
    bad: action(`basic-auth { credentials: [':correct horse'] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
  },
  {
    number: 2258,
    title: 'Invalid password',
    means: 'The password of a credential must not contain control characters (RFC 7617).',
    bad: action(`basic-auth { credentials: ["ann:correct\\thorse"] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
  },
  {
    number: 2261,
    title: 'Invalid pattern',
    means:
      'Patterns use RE2 syntax, which guarantees linear time: look-around and back-references are not supported.',
    bad: action(`redirect { from: '^http://(?!www)(.*)', to: 'https://$1' }`),
    good: action(`redirect { from: '^http://(.*)', to: 'https://$1' }`),
  },
  {
    number: 2262,
    title: 'Internal endpoints have no on_tcp_connect',
    means:
      'Internal HTTP endpoints are reached from other endpoints, not by client connections, so they have no connection rules.',
    carriedBy: 'internal_endpoint',
    bad: `on_tcp_connect:
  - actions: [{ type: deny }]
`,
    good: `on_http_request:
  - actions: [{ type: deny }]
`,
  },
  {
    number: 2264,
    title: 'Too many rules for the plan',
    means: 'The plan of the account limits the number of rules per policy.',
    plan: { rulesPerPolicy: 1 },
    bad: `on_http_request:
  - expressions: ["req.method == 'PUT'"]
    actions: [{ type: deny }]
  - expressions: ["req.method == 'DELETE'"]
    actions: [{ type: deny }]
`,
    good: `on_http_request:
  - expressions: ["req.method in ['PUT', 'DELETE']"]
    actions: [{ type: deny }]
`,
  },
  {
    number: 2265,
    title: 'Too much in a rule for the plan',
    means: 'The plan of the account limits the number of expressions and actions per rule.',
    plan: { expressionsPerRule: 1, actionsPerRule: 1 },
    bad: `on_http_request:
  - expressions: ["req.method == 'PUT'", "req.host == 'a.test'"]
    actions: [{ type: deny }]
`,
    good: `on_http_request:
  - expressions: ["req.method == 'PUT' && req.host == 'a.test'"]
    actions: [{ type: deny }]
`,
  },
  {
    number: 2266,
    title: 'More than one AI gateway',
    means: 'A policy can have only one ai-gateway action, whatever the conditions of its rules are.',
    bad: request(`      - type: ai-gateway
      - type: ai-gateway
`),
    good: request(`      - type: ai-gateway
`),
  },
  {
    number: 2267,
    title: 'Key of a known provider',
    means:
      'Keys of known providers, and their selection, belong to the key of the gateway. Only a provider with a base_url has its keys in the policy.',
    bad: request(`      - type: ai-gateway
        config:
          providers:
            - id: openai
              api_keys: [{ value: "\${secrets.get('models', 'openai')}" }]
`),
    good: request(`      - type: ai-gateway
        config:
          providers:
            - id: local
              base_url: https://models.example.test/v1
              api_keys: [{ value: "\${secrets.get('models', 'local')}" }]
`),
  },
];
