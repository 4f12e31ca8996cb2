const EDGE = `backends: { app: { http_response: { status_code: 200, body: tea } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          tea_pot: { cups: 2 }
          traffic_policy:
            value: |
              on_http_request:
                - name: tea
                  actions: [{ type: brew-tea, config: { cups: 5 } }]
                - name: warm
                  expressions: ["actions.service.brew_tea.cups >= 5"]
                  actions: [{ type: add-headers, config: { headers: { x-tea: warm } } }]
`;

const CASES = `edge: edge.yaml
cases:
  - name: tea
    request: { url: 'https://shop.test/' }
    expect: { status: 200, because: tea_pot.poured }
`;

/** Its action learns the outcomes of requests. */
const EMPTIED = `${EDGE}                - name: empty
                  expressions: ["actions.service.brew_tea.served >= 10"]
                  actions: [{ type: deny }]
`;

const SERVED = `edge: emptied.yaml
cases:
  - name: the pot is empty after two requests
    timeline:
      - { send: { url: 'https://shop.test/', count: 2 }, expect: { status: 200 } }
      - { send: 'https://shop.test/', expect: { status: 403 } }
`;

const SIMULATION = `edge: edge.yaml
simulation:
  duration: 1s
  arrivals: [{ request: { url: 'https://shop.test/', headers: { x-shake: hard } }, rate: 10 }]
`;

const UNFORMATTED = `on_http_request:
- actions: [{ type: brew-tea, config: { cups: 2, leaves: req.method } }]
`;

/** As `fmt` writes that. */
export const FORMATTED = `on_http_request:
  - actions:
      - type: brew-tea
        config:
          cups: 2
          leaves: "req.method"
`;

const PROPERTIES = `edge: edge.yaml
properties:
  - name: no request is refused
    never: { end: blocked }
  - name: no request passes without tea
    never: { end: forwarded, without: [tea_pot] }
`;

/** A request of a log that was let through. */
const HAR = JSON.stringify({
  log: {
    version: '1.2',
    creator: { name: 'browser', version: '1' },
    entries: [
      {
        startedDateTime: '2026-01-01T00:00:00.000Z',
        time: 1,
        request: {
          method: 'GET',
          url: 'https://shop.test/',
          httpVersion: 'HTTP/1.1',
          headers: [{ name: 'x-shake', value: 'hard' }],
          queryString: [],
          cookies: [],
          headersSize: -1,
          bodySize: -1,
        },
        response: {
          status: 200,
          statusText: 'OK',
          httpVersion: 'HTTP/1.1',
          headers: [],
          cookies: [],
          content: { size: 0, mimeType: 'text/plain' },
          redirectURL: '',
          headersSize: -1,
          bodySize: 0,
        },
        cache: {},
        timings: { send: 0, wait: 1, receive: 0 },
      },
    ],
  },
});

/** The files of users that the command lines read, by name. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  'edge.yaml': EDGE,
  'bad.yaml': EDGE.replace('cups: 2', 'cups: 0').replace('type: brew-tea', 'type: boil'),
  'weak.yaml': EDGE.replace('cups: 5', 'cups: 1'),
  'strong.yaml': EDGE.replace('cups: 2', 'cups: 10').replace('cups: 5', 'cups: 11'),
  'other.yaml': EDGE.replace('          tea_pot: { cups: 2 }\n', ''),
  'late.yaml': EDGE.replace(
    ' } }]\n                - name: warm',
    ' } }, { type: deny }]\n                - name: warm',
  ),
  'emptied.yaml': EMPTIED,
  'policy.yaml': UNFORMATTED,
  'module.yaml': EDGE.slice(0, EDGE.indexOf('          traffic_policy:')),
  'tea.property.yaml': PROPERTIES,
  'module.property.yaml': PROPERTIES.replace('edge.yaml', 'module.yaml'),
  'tea.test.yaml': CASES,
  'served.test.yaml': SERVED,
  'tea.sim.yaml': SIMULATION,
  'tea.har': HAR,
};
