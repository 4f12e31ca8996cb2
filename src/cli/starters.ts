/** A file that `init` writes. */
interface Starter {
  readonly path: string;
  readonly text: string;
}

/** For editors with a YAML language server; the path is right where the package is installed. */
function modeline(kind: 'edge' | 'policy' | 'scenario'): string {
  return `# yaml-language-server: $schema=node_modules/edgeproof/schema/${kind}.json\n`;
}

const EDGE = `${modeline('edge')}# An edge: the hosts and paths that it serves, and what it does with their requests.
# edgeproof check edge.yaml    checks this file
# edgeproof dev edge.yaml      serves it on this machine and reloads it on save

# Ranges of addresses. An address needs one allow and no deny.
ip_policies:
  office:
    rules:
      - { cidr: 203.0.113.0/24, action: allow }
      - { cidr: 127.0.0.0/8, action: allow }

# Where requests go.
backends:
  app: { static: { address: 'localhost:3000' } }
  ok: { http_response: { status_code: 200, body: "ok\\n" } }

edges:
  https:
    main:
      hostports: ['app.test:443']
      routes:
        # The most specific matching route is used.
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          circuit_breaker: {}
          response_headers: { add: { x-served-by: edge } }
          traffic_policy: { file: policy.yml }

        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }

        - match_type: exact_path
          match: /healthz
          backend: { backend_id: ok }
`;

const EDGE_SCENARIOS = `${modeline('scenario')}# Tests of edge.yaml. Run them with: edgeproof test
edge: edge.yaml

# The responses of the backends in these tests; nothing is dialled.
upstreams:
  app: { status: 200, body: hello, latency: 5ms }

cases:
  - name: pages come from the app
    request: GET /
    expect:
      status: 200
      headers: { x-served-by: edge }
      upstream: { backend: app, path: /, headers: { x-from-edge: 'yes' } }

  # This case runs once per row.
  - name: admin is for the office, from {ip}
    each:
      - { ip: 203.0.113.9, status: 200, decision: allow }
      - { ip: 198.51.100.1, status: 403, decision: block }
    request: { path: /admin, ip: '{ip}' }
    expect: { status: '{status}', decisions: { ip_restriction: '{decision}' } }

  - name: the breaker stops requests to an app that fails
    upstreams: { app: 500 }
    timeline:
      - { send: { path: /, count: 30, every: 10ms }, expect: { status: [500, 503] } }
      - { advance: 1s, send: GET /, expect: { status: 503, upstream: none } }

  - name: health needs no app
    upstreams: { app: refuse }
    request: GET /healthz
    expect: { status: 200, upstream: none }
`;

const POLICY = `${modeline('policy')}# A traffic policy: rules in order, each with conditions and actions.

on_http_request:
  - name: no traces
    expressions:
      - "req.url.path.startsWith('/.git')"
    actions:
      - type: deny
        config:
          status_code: 404
  - actions:
      - type: add-headers
        config:
          headers:
            x-from-edge: "yes"
`;

const POLICY_SCENARIOS = `${modeline('scenario')}# Tests of policy.yml alone, on a route with the backend \`app\`.
policy: policy.yml

cases:
  - name: hidden files stay hidden
    request: GET /.git/config
    expect: { status: 404, upstream: none, because: { action: deny } }

  - name: the app knows that a request came through the edge
    request: GET /
    expect: { status: 200, upstream: { headers: { x-from-edge: 'yes' } } }
`;

const INSTALL_STEP = '      - run: npm ci\n';

const WORKFLOW = `# yaml-language-server: $schema=https://json.schemastore.org/github-workflow.json
name: edge
on: [push, pull_request]

jobs:
  edge:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 26 }
${INSTALL_STEP}      # Exit code 3: the configuration has errors. Exit code 1: a case failed.
      - run: npx edgeproof check edge.yaml
      - run: npx edgeproof test -r pretty -r github -r junit=edge-report.xml
`;

/** The files of a new project. */
export const STARTERS: readonly Starter[] = [
  { path: 'edge.yaml', text: EDGE },
  { path: 'policy.yml', text: POLICY },
  { path: 'edge.scenario.yaml', text: EDGE_SCENARIOS },
  { path: 'policy.scenario.yaml', text: POLICY_SCENARIOS },
  { path: '.github/workflows/edge.yml', text: WORKFLOW },
];

/** The text of a starter. Where npm has a lock file, the workflow runs the edgeproof of that file, otherwise the newest one. */
export function starterText({ text }: Starter, hasLockFile: boolean): string {
  return hasLockFile ? text : text.replace(INSTALL_STEP, '');
}
