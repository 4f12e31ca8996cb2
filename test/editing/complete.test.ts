import { expect, test } from 'vitest';
import { EVENT_FILTER_SCOPE } from '../../src/events/filter_scope.ts';
import { type CompletionSetting, completions, completionsIn } from '../../src/editing/complete.ts';
import { editedText } from '../../src/editing/edited_text.ts';
import { type SeenKind, keysSeenIn } from '../../src/editing/keys_seen.ts';
import { checkerFor } from '../../src/project_files/load_config.ts';
import { cursorAt } from '../../src/editing/yaml_cursor.ts';

const EDGE = `ip_policies:
  office: { rules: [{ cidr: 203.0.113.0/24, action: allow }] }
backends:
  app: { static: { address: 'localhost:3000' } }
  other:
    static: { address: 'localhost:3001' }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
`;
const setting: CompletionSetting = {
  edgeText: () => EDGE,
  filterScope: EVENT_FILTER_SCOPE,
};
/** Completes at the `|`. */
const at = (marked: string, name: string | null = 'edge.yaml') => {
  const offset = marked.indexOf('|');
  // A block text begins with a bar, too.
  const text = (marked.slice(0, offset) + marked.slice(offset + 1)).replace('¦', '|');
  const answer = completions({ name, text, offset }, setting);
  return {
    ...answer,
    texts: answer.candidates.map((each) => each.text),
    word: text.slice(answer.start, offset),
  };
};
const route = (text: string): string => EDGE + text.replaceAll(/^/gm, '          ');
const rule = (text: string): string =>
  route(`traffic_policy:\n  on_http_request:\n    - name: a\n${text.replaceAll(/^/gm, '      ')}`);

test.each([
  ['a key of the file', 'bac|', ['backends: ']],
  ['a key of a route', route('comp|'), ['compression: ']],
  ['a value', route('request_headers: { enabled: t| }'), ['true']],
  ['an enumeration', EDGE.replace('path_prefix', 'exact|'), ['exact_path']],
  ['the name of a backend', route('backend: { backend_id: o|'), ['other']],
  ['the name of an IP policy', route('ip_restriction:\n  ip_policy_ids:\n    - of|'), ['office']],
  ['an element of a list', route('ip_restriction: { ip_policy_ids: [of|'), ['office']],
  [
    'a child of a backend',
    EDGE.replace('  other:\n    static:', '  other:\n    failover: [ap|]\n    static:'),
    ['app'],
  ],
  ['a type of action', rule('actions:\n  - type: den|'), ['deny']],
  ['a key of that action only', rule('actions:\n  - type: deny\n    config: { st|'), ['status_code: ']],
  ['its type below', rule('actions:\n  - config:\n      st|\n    type: deny'), ['status_code: ']],
  [
    'a variable',
    rule("expressions: [\"req.method == 'GET' && req.url.pa|"),
    ['req.url.path', 'req.url.parseUrl('],
  ],
  [
    'a variable of a field with a scope of its own',
    rule('actions:\n  - type: http-request\n    config: { retry_condition: "last_att|'),
    ['last_attempt'],
  ],
  [
    'no such variable of other fields',
    rule('actions:\n  - type: rate-limit\n    config: { bucket_key: ["last_att|'),
    [],
  ],
  ['a variable of an element', rule('expressions:\n  - conn.client_i|'), ['conn.client_ip']],
  [
    'in a template',
    rule('actions:\n  - type: add-headers\n    config:\n      headers:\n        x-a: "a ${req.met|'),
    ['req.method'],
  ],
])('%s', (_of, marked, expected) => {
  const { texts } = at(marked);
  expect(texts).toEqual(expect.arrayContaining(expected));
  expect(texts.length).toBeLessThan(6);
});

test('a policy of its own', () => {
  expect(at('on_http_request:\n  - exp|', 'policy.yaml').texts).toEqual(['expressions: ']);
  expect(at('on_http_response:\n  - expressions: ["res.status_|', 'policy.yaml').texts).toEqual([
    'res.status_code',
  ]);
  expect(
    at('on_http_request:\n  - actions: [{ type: restrict-ips, config: { ip_policies: [|', 'policy.yaml')
      .texts,
  ).toEqual(['office']);
});

const PROPERTIES = 'edge: edge.yaml\nproperties:\n  - use: path-needs-gate\n    with:\n';
const CASES = 'edge: edge.yaml\ncases:\n  - name: a\n    request: GET /\n    expect:\n';

test.each([
  [
    'a ready-made property',
    'edge: e.yaml\nproperties:\n  - use: path-needs-g|',
    'p.yaml',
    ['path-needs-gate'],
  ],
  ['its parameters', `${PROPERTIES}      ga|`, 'p.yaml', ['gates: ']],
  ['a gate of its parameters', `${PROPERTIES}      gates: [logi|]`, 'p.yaml', ['login']],
  [
    'a gate',
    'edge: e.yaml\nproperties:\n  - never: { end: forwarded, without: [basic|] }',
    'p.yaml',
    ['basic-auth'],
  ],
  [
    'the backend of a property',
    'edge: e.yaml\nproperties:\n  - never: { end: forwarded, backend: ap|',
    'p.yaml',
    ['app'],
  ],
  ['what decided', `${CASES}      because: { module: ip_r|`, 's.yaml', ['ip_restriction']],
  ['its reason', `${CASES}      because: { module: ip_restriction, reason: deni|`, 's.yaml', ['denied']],
  ['its code', `${CASES}      because: { code: ip_restriction.den|`, 's.yaml', ['ip_restriction.denied']],
  ['a key of simulations', 'edge: e.yaml\nsimulation:\n  dura|', 's.yaml', ['duration: ']],
  ['a key of arrivals', 'edge: e.yaml\nsimulation:\n  arrivals:\n    - ra|', 's.yaml', ['rate: ']],
  ['JSON over lines', '{\n  "backends": {\n    "app": {\n      "sta|', 'edge.json', ['static']],
  ['a key of JSON without quotes', '{\n  "backends": {\n    "app": {\n      |', 'edge.json', ['"static": ']],
  [
    'an action in JSON',
    '{\n  "on_http_request": [\n    {\n      "actions": [\n        {\n          "type": "deny",\n' +
      '          "config": { "stat|',
    'policy.json',
    ['status_code'],
  ],
  [
    'brackets over lines with a comment',
    'on_http_request:\n  - actions: [ # one, {two\n      { type: deny,\n        config: { stat|',
    'policy.yaml',
    ['status_code: '],
  ],
  [
    'a policy in a block text',
    route('traffic_policy:\n  value: >\n    on_http_request:\n      - expressions: ["req.metho|').replace(
      'value: >',
      'value: ¦',
    ),
    'edge.yaml',
    ['req.method'],
  ],
])('%s', (_of, marked, name, expected) => {
  const { texts } = at(marked, name);
  expect(texts).toEqual(expect.arrayContaining(expected));
  expect(texts.length).toBeLessThan(12);
});

test.each([
  'never: { end: forwarded, without: [|] }',
  'use: path-needs-gate\n    with: { path: /a, gates: [|] }',
])('gates that the checker of properties takes, and no others: %s', async (property) => {
  const marked = `properties:\n  - name: a\n    ${property}\n`;
  const gates = at(marked, 'p.yaml').texts;
  expect(gates).toEqual(expect.arrayContaining(['login', 'basic-auth']));
  const text = marked.replace('|', gates.join(', '));
  const check = await checkerFor(text, { strict: false });
  expect(check({ name: 'p.yaml', text })).toEqual([]);
});

test('keys of headers and others that were seen', () => {
  const text = `on_http_request:
  - expressions: ["req.headers['X-Team'][0] == 'a' && 'sid' in req.cookies && req.cookies['sid'].value == ''"]
    actions: [{ type: set-vars, config: { vars: [{ lane: beta }] } }]
`;
  const keys = keysSeenIn(editedText(text, 'policy.yaml'));
  const known = { namesOf: () => [], seen: (kind: SeenKind) => [...(keys.get(kind) ?? [])] };
  const textsAt = (marked: string): readonly string[] => {
    const offset = marked.indexOf('|');
    const edited = editedText(marked.replace('|', ''), 'policy.yaml');
    return completionsIn(edited, offset, known).candidates.map((each) => each.text);
  };
  const ruleOf = (expression: string): string => `on_http_request:\n  - expressions: ["${expression}|"]\n`;
  expect(textsAt(ruleOf("req.headers['x-"))).toEqual(['x-team']);
  expect(textsAt(ruleOf("hasReqHeader('x"))).toEqual(['x-team']);
  expect(textsAt(ruleOf("req.cookies['"))).toEqual(['sid']);
  expect(textsAt(ruleOf('vars.'))).toEqual(['lane']);
  expect(textsAt(ruleOf("res.headers['"))).toEqual([]);
});

test('the expression of a filter, with what its fields are', () => {
  const { candidates, word } = at("ev.conn.client_ip == '' && ev.|", null);
  expect(word).toBe('ev.');
  expect(candidates.length).toBeGreaterThan(0);
  for (const { text, kind, doc } of candidates)
    expect([text.startsWith(word), kind, typeof doc]).toEqual([true, 'variable', 'string']);
});

test('any place of a text has a path, and completing there does not fail', () => {
  const text = rule('expressions: ["a"]\nactions:\n  - type: deny\n    config: { status_code: 403 }\n');
  for (let offset = 0; offset <= text.length; offset++) {
    const { start, end } = completions({ name: 'edge.yaml', text, offset }, setting);
    expect(start <= offset && offset <= end).toBe(true);
  }
  const offset = text.indexOf('403');
  expect(cursorAt(text, offset).path.join('/')).toBe(
    'edges/https/shop/routes/*/traffic_policy/on_http_request/*/actions/*/config/status_code',
  );
});
