const EDGE = `backends:
  app: &app { static: { address: 'localhost:3000' } }
  other: *app
ip_policies:
  office: { rules: [{ cidr: 203.0.113.0/24, action: allow }] }
edges:
  https:
    shop:
      hostports: ['shop.test:443'] # é😀
      routes:
        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
          traffic_policy:
            value: |
              on_http_request:
                - name: closed
                  expressions: ["req.url.path.startsWith('/x')"]
                  actions: [{ type: deny }]
        - match_type: path_prefix
          match: /
          backend: { backend_id: other }
          traffic_policy:
            on_http_request:
              - expressions:
                  - >-
                    req.headers['x-a'][0] == 'é'
                    || req.method == "GET"
                actions:
                  - type: custom-response
                    config: { status_code: 200, body: "hi \${req.method}" }
`;
const POLICY = `on_http_request:
  - name: one
    expressions: ["req.url.path == '/a' && conn.client_ip in ['203.0.113.9']"]
    actions:
      - type: redirect
        config: { to: 'https://shop.test/', status_code: 302 }
on_http_response:
  - actions: [{ type: add-headers, config: { headers: { x-b: "\${res.status_code}" } } }]
`;
const SCENARIO = `edge: edge.yaml
secrets: { vault: { key: made-up } }
cases:
  - name: it is closed
    request: { path: /admin, ip: 198.51.100.1 }
    expect: { status: 403, because: { module: ip_restriction } }
simulation:
  duration: 1s
  arrivals: [{ request: GET /, rate: 10 }]
`;
const PROPERTIES = `edge: edge.yaml
properties:
  - use: path-needs-gate
    with: { path: /admin, gates: [verify-webhook] }
  - name: nothing is stopped
    where: "req.url.path == '/'"
    never: { end: stopped }
`;
/** Files of all kinds that belong together; one has a byte order mark and CR LF. */
export const TEXTS: Readonly<Record<string, string>> = {
  'edge.yaml': EDGE,
  'windows.edge.yaml': `\ufeff${EDGE.replaceAll('\n', '\r\n')}`,
  'policy.yaml': POLICY,
  'policy.json': `${JSON.stringify(
    { on_http_request: [{ name: 'a', expressions: ['true'], actions: [{ type: 'deny' }] }] },
    null,
    2,
  )}\n`,
  'shop.scenario.yaml': SCENARIO,
  'properties.yaml': PROPERTIES,
};
