/**
 * Keys that other tools have for what keys here say, each with the keys here that it may mean. The first one that exists at
 * its place is meant.
 */
// table: words of other tools
const WORDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    addr: ['address'],
    assert: ['expect'],
    assertions: ['expect'],
    backend: ['backend_id', 'backends'],
    cidrs: ['rules'],
    code: ['status', 'status_code'],
    content: ['body'],
    delay: ['latency', 'advance'],
    domain: ['hostports', 'host'],
    domains: ['hostports'],
    examples: ['each'],
    expected: ['expect'],
    host: ['hostports'],
    ip: ['cidr'],
    range: ['cidr'],
    threshold: ['error_threshold_percentage'],
    window: ['rolling_window'],
    hostname: ['hostports', 'host'],
    hosts: ['hostports'],
    location: ['match'],
    locations: ['routes'],
    mocks: ['upstreams'],
    path: ['match', 'url'],
    prefix: ['match'],
    ranges: ['rules'],
    request: ['send'],
    requests: ['timeline'],
    response: ['expect', 'body'],
    rows: ['each'],
    scenarios: ['cases'],
    server_name: ['hostports'],
    service: ['backend', 'backend_id'],
    services: ['backends'],
    set: ['add'],
    sleep: ['advance'],
    steps: ['timeline'],
    stubs: ['upstreams'],
    target: ['address', 'backend_id', 'edge'],
    tests: ['cases'],
    title: ['name'],
    upstream: ['backend', 'backend_id', 'upstreams'],
    upstreams: ['backends'],
    uri: ['url', 'match'],
    url: ['address', 'match'],
    wait: ['advance'],
    when: ['request', 'send'],
  }),
);

/** The known key that a key of another tool means; undefined if there is none. */
export function wordMeant(key: string, known: readonly string[]): string | undefined {
  return WORDS.get(key.toLowerCase())?.find((word) => known.includes(word));
}

/** What to write instead of keys that are divided differently here, by a key that exists beside them. */
const ADVICE: ReadonlyMap<string, readonly (readonly [beside: string, advice: string])[]> = new Map(
  Object.entries({
    query: [['path', 'write the query after the path: /search?q=shoes']],
    params: [['path', 'write the query after the path: /search?q=shoes']],
    cookies: [['headers', 'write a header: cookie: name=value']],
    auth: [['headers', 'write a header: authorization: …']],
    static: [
      [
        'backend_id',
        'define the backend in `backends` at the top of the file, and write its name in backend_id',
      ],
    ],
    tunnel: [
      [
        'backend_id',
        'define the backend in `backends` at the top of the file, and write its name in backend_id',
      ],
    ],
    allow: [
      [
        'ip_policy_ids',
        'write the ranges in `ip_policies` at the top of the file, and the name of the policy here',
      ],
    ],
    deny: [
      [
        'ip_policy_ids',
        'write the ranges in `ip_policies` at the top of the file, and the name of the policy here',
      ],
    ],
    cors: [['response_headers', 'write the access-control-… headers in `response_headers`']],
    rewrite: [['traffic_policy', 'paths are rewritten by the action url-rewrite of a traffic_policy']],
    redirect: [['traffic_policy', 'redirects are an action of a traffic_policy']],
    method: [
      [
        'match_type',
        'routes match hosts and paths; methods are told apart by the expressions of a traffic_policy',
      ],
    ],
    methods: [
      [
        'match_type',
        'routes match hosts and paths; methods are told apart by the expressions of a traffic_policy',
      ],
    ],
    file: [['edges', 'write the name of the file as text: edge: edge.yaml']],
  }),
);

/** What to write instead of a key that has no counterpart at its place. */
export function adviceOn(key: string, known: readonly string[]): string | undefined {
  return ADVICE.get(key.toLowerCase())?.find(([beside]) => known.includes(beside))?.[1];
}
