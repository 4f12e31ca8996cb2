import { expect, test } from 'vitest';
import { bundledEngine } from '../browser/bundled_engine.ts';

const EDGE = `backends:
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
              - name: key
                expressions:
                  - req.method == 'POST' && req.url.path == '/a'
                  - req.headers['x-key'][0] == secrets.get('team', 'key')
                actions: [{ type: deny }]
              - name: api
                expressions: ["req.url.path.startsWith('/api')"]
                actions: [{ type: deny }]
`;
const SCENARIO = `edge: edge.yaml
secrets: { team: { key: 'open sesame' } }
cases:
  - { name: get, request: GET /, expect: snapshot }
  - name: wrong key
    request: { method: POST, path: /a, headers: { x-key: guess } }
    expect: { status: 200 }
  - name: many at once
    timeline:
      - { send: GET /slow }
      - { send: GET /b, expect: { status: 200 } }
`;

test('rules that did not apply say which part was false, with the values of all parts', async () => {
  const { engine } = await bundledEngine();
  const { diagnostics, cases } = await engine.decideCases(
    { 'edge.yaml': EDGE, 'edge.scenario.yaml': SCENARIO },
    'edge.scenario.yaml',
  );
  expect(diagnostics).toEqual([]);
  const rules = cases.map(({ received }) =>
    received!.explanation.steps.flatMap(({ inner = [] }) => inner.map(({ message }) => message)),
  );
  expect(rules).toEqual([
    [
      "does not apply: req.method == 'POST' is false (req.method is 'GET')",
      "does not apply: req.url.path.startsWith('/api') is false (req.url.path is '/')",
    ],
    [
      "does not apply: req.headers['x-key'][0] == secrets.get('team', 'key') is false (req.headers['x-key'][0] is 'guess', secrets.get('team', 'key') is '***')",
      "does not apply: req.url.path.startsWith('/api') is false (req.url.path is '/a')",
    ],
    [
      "does not apply: req.method == 'POST' is false (req.method is 'GET')",
      "does not apply: req.url.path.startsWith('/api') is false (req.url.path is '/b')",
    ],
  ]);
  const [get, wrong] = cases.map(({ received }) => received!.values);
  expect(get!.map(({ parts }) => parts.map(({ text, value, skipped }) => [text, value, skipped]))).toEqual([
    [
      ["req.method == 'POST' && req.url.path == '/a'", 'false', null],
      ["req.method == 'POST'", 'false', null],
      ['req.method', "'GET'", null],
      ["req.url.path == '/a'", '', '`&&` was decided: this side is false'],
      ['req.url.path', '', '`&&` was decided: this side is false'],
    ],
    [
      ["req.url.path.startsWith('/api')", 'false', null],
      ['req.url.path', "'/'", null],
    ],
  ]);
  expect(get![0]!.decided).toEqual({ start: 0, end: 20, value: 'false' });
  expect(JSON.stringify(cases.map(({ received }) => received))).not.toContain('sesame');
  expect(wrong!.map(({ value }) => value)).toEqual(['true', 'false', 'false']);
});
