import type { ProjectTexts } from '../engine.ts';

interface Example {
  readonly title: string;
  readonly texts: ProjectTexts;
}

const scenario = (cases: string): string => `edge: edge.yaml

cases:
${cases}`;

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Admin by address',
    texts: {
      'edge.yaml': `ip_policies:
  office:
    rules:
      - { cidr: 203.0.113.0/24, action: allow }
      - { cidr: 203.0.113.128/25, action: deny }

backends:
  app: { static: { address: 'localhost:3000' } }

edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
`,
      'edge.scenario.yaml': scenario(`  - name: the office reaches the admin pages
    request: { path: /admin, ip: 203.0.113.9 }
    expect: { status: 200 }
  - name: its guest network does not
    request: { path: /admin, ip: 203.0.113.200 }
    expect: { status: 403 }
  - name: other spellings do not help
    request: { path: /%61dmin, ip: 198.51.100.1 }
    expect: { status: 403 }
`),
    },
  },
  {
    title: 'Rate limit and headers by policy',
    texts: {
      'edge.yaml': `backends:
  app: { static: { address: 'localhost:3000' } }

edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - name: limit the API
                expressions:
                  - req.url.path.startsWith('/api/')
                actions:
                  - type: rate-limit
                    config:
                      name: api
                      algorithm: sliding_window
                      capacity: 2
                      rate: 60s
                      bucket_key: [conn.client_ip]
              - expressions:
                  - "!hasReqHeader('user-agent')"
                actions:
                  - type: deny
                    config: { status_code: 400 }
            on_http_response:
              - actions:
                  - type: add-headers
                    config:
                      headers: { x-served-by: edgeproof }
`,
      'edge.scenario.yaml': scenario(`  - name: a client with a name is served
    request: { path: /, headers: { user-agent: curl/8 } }
    expect: { status: 200, headers: { x-served-by: edgeproof } }
  - name: a client without a name is refused
    request: GET /
    expect: { status: 400 }
  - name: the third request within a minute is too many
    timeline:
      - { send: GET /api/items }
      - { send: GET /api/items }
      - { send: GET /api/items, expect: { status: 429 } }
`),
    },
  },
];
