import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { explainer } from '../../../src/inspector/decide/explain_again.ts';
import { type Sent, traffic } from './traffic.ts';

const EDGE = `backends:
  app: { static: { address: 'UPSTREAM' } }
edges:
  https:
    shop:
      hostports: ['127.0.0.1:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy: { file: policy.yaml }
`;
const POLICY = `on_http_request:
  - name: writes
    expressions: ["req.method == 'POST' && !('x-key' in req.headers)"]
    actions: [{ type: deny, config: { status_code: 401 } }]
  - name: key
    expressions: ["'x-key' in req.headers && req.headers['x-key'][0] == secrets.get('team', 'key')"]
    actions: [{ type: add-headers, config: { headers: { x-known: 'yes' } } }]
  - name: admin
    expressions: ["req.url.path.startsWith('/admin')"]
    actions: [{ type: deny, config: { status_code: 403 } }]
  - name: late
    expressions: ["req.url.path.endsWith('/late')"]
    actions: [{ type: deny, config: { status_code: 404 } }]
`;
const FILES = { 'edge.yaml': EDGE, 'policy.yaml': POLICY };
const REQUESTS: readonly Sent[] = [
  { request: 'GET /' },
  { request: 'POST /orders', body: '{}' },
  { request: 'GET /admin/users', headers: { 'x-key': 'guess' } },
  { request: 'GET /late' },
];

test('the same texts change nothing', async () => {
  const { drafts, order } = await traffic(FILES, REQUESTS);
  const answer = await drafts.decide(order());
  expect(answer).toMatchObject({ diagnostics: [], decided: true, one: null, changed: [] });
  expect(answer.counts).toEqual({ looked: 4, alike: 4, changed: 0, unknown: 0 });
});

test('a draft of a policy: what would change, and the explanation of one exchange', async () => {
  const { drafts, order, folder } = await traffic(FILES, REQUESTS);
  const policy = relative('.', `${folder}/policy.yaml`);
  const text = readFileSync(policy, 'utf8').replace("startsWith('/admin')", "startsWith('/administration')");
  const { one, changed, counts } = await drafts.decide(order({ [policy]: text }, 3));
  expect(counts).toEqual({ looked: 4, alike: 3, changed: 1, unknown: 0 });
  expect(changed).toHaveLength(1);
  expect(changed[0]).toMatchObject({
    seq: 3,
    before: {
      verdict: 'stop',
      by: 'traffic_policy',
      status: 403,
      backend: null,
      place: { file: policy, line: 10 },
    },
    // What the upstream would have answered is not known.
    after: { verdict: 'pass', status: null, backend: 'app' },
    unknown: [],
  });
  expect(changed[0]!.differences[0]).toContain('403 by traffic_policy');
  expect(one).toMatchObject({ seq: 3, after: { verdict: 'pass' } });
  const rules = one!.explanation!.steps.flatMap((step) => step.rules ?? []);
  const admin = rules.find(({ name }) => name === 'admin');
  expect(admin).toMatchObject({
    applied: false,
    reason: "req.url.path.startsWith('/administration') is false (req.url.path is '/admin/users')",
  });
});

test('a draft with errors says where, and decides nothing', async () => {
  const { drafts, order, edgeFile } = await traffic(FILES, REQUESTS);
  const text = readFileSync(edgeFile, 'utf8').replace('backend_id: app', 'backend_id: ap');
  const { decided, diagnostics, counts } = await drafts.decide(order({ [edgeFile]: text }));
  expect([decided, counts.looked]).toEqual([false, 0]);
  expect(diagnostics[0]).toMatchObject({ severity: 'error', range: { start: { line: 10 } } });
});

test('an explanation has the rules that did not apply, all values, and the time of steps', async () => {
  const { current, circumstances, kept, explanations } = await traffic(FILES, REQUESTS);
  const { explain } = explainer(
    () => current,
    circumstances,
    () => performance.now(),
  );
  const [, , admin] = explanations;
  const { steps, decidedBy, text } = explain(kept[2]!, admin!);
  expect(steps.map(({ code }) => code)).toEqual(admin!.steps.map(({ code }) => code));
  expect(steps[decidedBy]!.code).toBe(admin!.decidedBy.code);
  const { rules, tookMicros } = steps[decidedBy]!;
  expect(tookMicros).toBeGreaterThan(0);
  expect(rules!.map(({ name, applied, reason }) => [name, applied, reason])).toEqual([
    ['writes', false, "req.method == 'POST' is false (req.method is 'GET')"],
    [
      'key',
      false,
      "req.headers['x-key'][0] == secrets.get('team', 'key') is false (req.headers['x-key'][0] is 'guess', secrets.get('team', 'key') is '***')",
    ],
    ['admin', true, null],
  ]);
  expect(rules![0]!.expressions[0]).toMatchObject({
    value: 'false',
    decided: { start: 0, end: 20, value: 'false' },
  });
  expect(text).toContain("rule writes: does not apply: req.method == 'POST' is false");
  expect(JSON.stringify(steps)).not.toContain('sesame');
});

test('after a stop later rules are left out, and state is not repeated', async () => {
  const limited = POLICY.replace(
    'on_http_request:',
    `on_http_request:
  - name: limit
    actions:
      - type: rate-limit
        config: { name: all, algorithm: sliding_window, capacity: 2, rate: 60s, bucket_key: [conn.client_ip] }`,
  );
  const { drafts, order, current, circumstances, kept, explanations } = await traffic(
    { ...FILES, 'policy.yaml': limited },
    REQUESTS,
  );
  const { explain } = explainer(
    () => current,
    circumstances,
    () => performance.now(),
  );
  expect(explanations.map(({ status }) => status)).toEqual([200, 401, 429, 429]);
  const last = explain(kept[3]!, explanations[3]!);
  expect(last.steps.flatMap(({ rules = [] }) => rules.map(({ name }) => name))).toEqual(['limit']);
  const answer = await drafts.decide(order());
  expect(answer.counts).toEqual({ looked: 4, alike: 4, changed: 0, unknown: 0 });
  expect((await drafts.decide(order({}, 4))).one!.after.status).toBe(429);
});

test('an answer without the explanation is the same otherwise', async () => {
  const { drafts, order, folder } = await traffic(FILES, REQUESTS);
  const policy = relative('.', `${folder}/policy.yaml`);
  const text = readFileSync(policy, 'utf8').replace("startsWith('/admin')", "startsWith('/late')");
  const asked = order({ [policy]: text }, 3);
  const { one, tookMs: _, ...explained } = await drafts.decide(asked);
  const { one: plain, tookMs: __, ...rest } = await drafts.decide({ ...asked, explains: false });
  expect(rest).toEqual(explained);
  expect(one!.explanation).not.toBeNull();
  expect(plain).toEqual({ ...one, explanation: null });
});
