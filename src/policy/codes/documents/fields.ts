import { type DocumentCode, action, request } from '../code.ts';

// table: codes of the fields of a config, with their examples
export const FIELD_CODES: readonly DocumentCode[] = [
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
    number: 2228,
    title: 'Value cannot be parsed',
    means: 'The value does not have the syntax of the field, such as a duration (1h30m) or PEM.',
    bad: action('http-request { url: https://audit.internal, timeout: 3 seconds }'),
    good: action('http-request { url: https://audit.internal, timeout: 3s }'),
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
    number: 2237,
    title: 'Text too short',
    means: 'The text has fewer characters than the field requires. Passwords of basic-auth have at least 8.',
    bad: action(`basic-auth { credentials: ['ann:secret'] }`),
    good: action(`basic-auth { credentials: ["ann:\${secrets.get('team', 'ann')}"] }`),
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
    number: 2252,
    title: 'Invalid form of set-vars',
    means: 'Variables are a list in the order of assignment; each entry is a map with exactly one key.',
    bad: action('set-vars { vars: { lane: beta } }'),
    good: action('set-vars { vars: [{ lane: beta }] }'),
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
    number: 2267,
    title: 'Key of a known provider',
    means:
      'Keys of known providers, and their selection, belong to the key of the gateway. Only a provider with a base_url has its keys in the policy. Former policies have them: it is a warning, and an error with `edgeproof check --strict`.',
    strict: true,
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
