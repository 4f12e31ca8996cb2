/** A small policy, and one case for it. */
export const POLICY = `on_http_request:
  - name: no strangers
    expressions:
      - "!hasReqHeader('x-team') || conn.geo.country_code == 'XY'"
    actions: [{ type: deny }]
  - name: few
    expressions: ["req.url.path.startsWith('/login')"]
    actions:
      - type: rate-limit
        config: { name: l, algorithm: sliding_window, capacity: 3, rate: 60s, bucket_key: [conn.client_ip] }
  - name: twice
    expressions: ["req.method == 'PUT' && req.method == 'POST'"]
    actions: [{ type: deny }]
`;
export const CASES = `policy: policy.yaml
cases:
  - name: strangers stay out
    request: GET /
    expect: { status: 403 }
`;
