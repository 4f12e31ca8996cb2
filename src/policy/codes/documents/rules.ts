import { type DocumentCode, action, request } from '../code.ts';

// table: codes of documents, their rules and their limits, with their examples
export const RULE_CODES: readonly DocumentCode[] = [
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
    number: 2205,
    title: 'Action does not fit the protocol',
    means: 'The protocol of the endpoint does not support the action.',
    attachedTo: 'tcp_edge',
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
    number: 2230,
    title: 'Phase does not fit the protocol',
    means: 'TCP and TLS edges do not parse HTTP: only on_tcp_connect runs there.',
    attachedTo: 'tcp_edge',
    bad: `on_http_request:
  - actions: [{ type: deny }]
`,
    good: `on_tcp_connect:
  - actions: [{ type: deny }]
`,
  },
  {
    number: 2235,
    title: 'Policy without an end',
    means:
      'A cloud endpoint has no backend: every path through its policy must end in an action that responds or forwards, so the last rule must have no expressions. Edges have a backend for that.',
    attachedTo: 'cloud_endpoint',
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
    number: 2248,
    title: 'HTTPS edges have no on_tcp_connect',
    means: 'Connection rules run on TLS and TCP edges. On an HTTPS edge, move them to on_http_request.',
    attachedTo: 'https_edge',
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
    number: 2262,
    title: 'Internal endpoints have no on_tcp_connect',
    means:
      'Internal HTTP endpoints are reached from other endpoints, not by client connections, so they have no connection rules.',
    attachedTo: 'internal_endpoint',
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
  - expressions: ["req.method == 'PUT'", "req.url.host == 'a.test'"]
    actions: [{ type: deny }]
`,
    good: `on_http_request:
  - expressions: ["req.method == 'PUT' && req.url.host == 'a.test'"]
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
];
