import { IDP_METADATA } from '../../auth/saml/idp_metadata.ts';

/** An edge file without errors that uses every module and every kind of backend, as text. */
export const GOOD_EDGE = `service_name: service
ip_policies:
  office: &office
    description: the office
    rules:
      - {cidr: 192.0.2.0/24, action: allow}
      - {cidr: '2001:db8::/32', action: deny, metadata: "{}"}
backends:
  app: {static: {address: 'localhost:3000', tls: {enabled: true}}}
  canary: {weighted: {app: 90, down: 10}}
  down: {http_response: {status_code: 503, headers: {retry-after: '5'}, body: sorry}}
  safe: {failover: [canary, down]}
edges:
  https:
    shop:
      hostports: ['shop.test:443', '*.shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: {backend_id: safe}
          compression: {}
          circuit_breaker: {num_buckets: 128, error_threshold_percentage: 1.0}
          request_headers: {add: {x-edge: 'yes'}, remove: [cookie]}
          response_headers: {enabled: false, remove: [server]}
          user_agent_filter: {allow: ['^curl/8'], deny: [curl, '(?i)bot']}
        - match_type: exact_path
          match: shop.test/admin
          ip_restriction: {ip_policy_ids: [office]}
          backend: {backend_id: app}
          oauth: {provider: {github: {teams: [acme/web]}}, cookie_prefix: a.}
          webhook_verification: {provider: sns}
          traffic_policy: {value: '{"on_http_request": []}'}
        - match_type: exact_path
          match: /login
          backend: {backend_id: app}
          oidc: {issuer: 'https://login.test', client_id: a, client_secret: b, scopes: [openid]}
          websocket_tcp_converter: {}
        - {match_type: path_prefix, match: /saml, backend: {backend_id: app}, saml: {idp_metadata: '${IDP_METADATA}'}}
`;

/** Smaller files that each show a part; fast to check many times. */
export const SMALL_EDGES: readonly string[] = [
  `ip_policies: {office: {rules: [{cidr: 192.0.2.0/24, action: allow}]}}
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - &admin
          match_type: exact_path
          match: /admin
          ip_restriction: {ip_policy_ids: [office]}
`,
  `backends:
  app: {static: {address: 'localhost:3000'}}
  down: {http_response: {status_code: 204, headers: {x: y}}}
  canary: {weighted: {app: 90, down: 10}}
  safe: {failover: [canary]}
edges: {https: {a: {hostports: ['a.test:443'], routes: [{match_type: path_prefix, match: /, backend: {backend_id: safe}}]}}}
`,
  `edges:
  https:
    shop:
      hostports: ['*.shop.test:443']
      routes:
        - match_type: path_prefix
          match: a.shop.test/
          compression: &on {enabled: true}
          websocket_tcp_converter: *on
          circuit_breaker: {num_buckets: 128, error_threshold_percentage: 1.0}
`,
  `edges: {https: {a: {hostports: ['a.test:443'], routes: [{match_type: path_prefix, match: /,
  request_headers: {add: {x-edge: 'yes'}, remove: [cookie]},
  user_agent_filter: {allow: ['^curl/8'], deny: [curl, '(?i)bot']}}]}}}
`,
  `{"service_name": "acme", "edges": {"https": {"a": {"hostports": ["a.test:443"],
  "routes": [{"match_type": "path_prefix", "match": "/", "description": "all",
    "oauth": {"provider": {"github": {"client_id": "a", "client_secret": "b", "scopes": ["c"]}}},
    "webhook_verification": {"provider": "github", "secret": "s"}, "traffic_policy": {"value": "{}"}}]}}}}`,
];
