import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { READY_PROPERTIES, namedProperty, readyProperty } from '../../src/analysis/ready_properties.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { counterexamples } from '../../src/project_files/counterexamples.ts';
import { proofsJson, proofsJunit, proofsText } from '../../src/project_files/proof_report.ts';
import { readProperties } from '../../src/project_files/property_file.ts';
import { ONCE, runFile } from '../../src/simulator/run_file.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { oneRoute } from '../one_route.ts';

const rule = (expression: string) => ({
  expressions: [expression],
  actions: [{ type: 'deny', config: { status_code: 403 } }],
});

/** An edge with an open route, and with one that is gated. */
function edge(gate: object = {}) {
  const plain = oneRoute(
    {},
    { ip_policies: { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } } },
  );
  plain.edges.https.shop.routes.push({
    match_type: 'path_prefix',
    match: '/admin',
    backend: { backend_id: 'ops' },
    ...gate,
  });
  return { ...plain, backends: { ...plain.backends, ops: { static: { address: 'localhost:3001' } } } };
}

const policy = (...rules: readonly object[]) => ({
  traffic_policy: { value: JSON.stringify({ on_http_request: rules }) },
});
const login = { oauth: { provider: { google: {} } } };
const office = { ip_restriction: { ip_policy_ids: ['office'] } };

/** For each ready-made property: its parameters, an edge for which it holds, and one for which it does not. */
const CASES: Readonly<Record<string, readonly [with_: object, holds: object, fails: object]>> = {
  'backend-needs-login': [{ backend: 'ops' }, edge(login), edge(office)],
  'backend-needs-gate': [{ backend: 'ops', gates: ['login', 'mutual_tls'] }, edge(login), edge(office)],
  'backend-only-from': [{ backend: 'ops', ranges: ['10.0.0.0/8'] }, edge(office), edge()],
  'backend-unused': [{ backend: 'ops' }, oneRoute({}, { backends: edge().backends }), edge()],
  'path-needs-login': [{ path: '/admin' }, edge(login), edge()],
  'path-needs-gate': [{ path: '/admin', gates: ['login'] }, edge(login), edge()],
  'path-only-from': [{ path: '/admin', ranges: ['10.0.0.0/8'] }, edge(office), edge()],
  'path-closed': [{ path: '/admin' }, edge(policy(rule('true'))), edge()],
  'path-needs-header': [
    { path: '/admin', header: 'x-key' },
    edge(policy(rule("!hasReqHeader('x-key')"))),
    edge(),
  ],
  'never-blocked': [{ ranges: ['10.0.0.0/8'] }, edge(office), edge(policy(rule("req.method == 'PUT'")))],
  'path-never-blocked': [{ path: '/admin' }, edge(), edge(office)],
  'always-answers': [{ path: '/admin' }, edge(), edge(office)],
  'https-only': [{}, oneRoute(policy(rule("req.url.scheme == 'http'"))), edge()],
  'method-closed': [{ method: 'PUT' }, oneRoute(policy(rule("req.method == 'PUT'"))), edge()],
};

test.each(Object.keys(READY_PROPERTIES))('%s is proved where it holds, and refuted where not', (use) => {
  const [values, holds, fails] = CASES[use]!;
  const property = namedProperty(use, values as never);
  const [good, bad] = [holds, fails].map((each) => prove(createEdge(each).config, property));
  expect(bad).toMatchObject({ verdict: 'REFUTED' });
  // Spellings of a path that a rule is asked about may be undecided.
  expect(good!.verdict).not.toBe('REFUTED');
  if (!use.startsWith('path-') && use !== 'https-only') expect(good).toMatchObject({ verdict: 'PROVED' });
});

test('a counterexample is a case that fails before the cure, and passes after it', () => {
  const property = readyProperty('backend-only-from', { backend: 'ops', ranges: ['10.0.0.0/8'] });
  const { config } = createEdge(edge());
  const proved = [{ property, file: 'a.property.yaml', proof: prove(config, property) }];
  const { text, count } = counterexamples(config, proved, 'more.scenario.yaml', 'edge.yaml');
  expect(count).toBe(1);
  expect(text).toMatch(/^# Requests that refute properties\. A case fails until/);
  const statuses = [edge(), edge(office)].map((each) => {
    const fixture = edgeFixture(createEdge(each).config, () => null);
    const checked = checkScenario({ name: 'more.scenario.yaml', text });
    return runFile(checked, fixture, ONCE).cases.map(({ status }) => status);
  });
  expect(statuses).toEqual([['failed'], ['passed']]);
});

test('reports', () => {
  const { config } = createEdge(edge());
  const proved = ['backend-unused', 'always-answers'].map((use) => {
    const property = namedProperty(use, CASES[use]![0] as never);
    return { property, file: 'a.property.yaml', proof: prove(config, property) };
  });
  expect(proofsText(proved)).toMatch(
    /^REFUTED {3}no client reaches ops\n[^]*\nPROVED {4}\/admin always gets/,
  );
  expect(JSON.parse(proofsJson(proved))).toMatchObject([{ verdict: 'REFUTED' }, { verdict: 'PROVED' }]);
  expect(proofsJunit(proved)).toContain('tests="2" failures="1" errors="0"');
});

const WRONG: readonly (readonly [text: string, line: string, code: string])[] = [
  ['properties: [{name: a}]', '1:14', 'property.no_statement'],
  ['properties: [{never: {end: forwarded}}]', '1:14', 'property.no_name'],
  ['properties: [{use: https-ony}]', '1:20', 'property.unknown_value'],
  ['properties: [{use: https-only, where: "true"}]', '1:20', 'property.two_statements'],
  ['properties: [{use: backend-unused}]', '1:14', 'property.bad_parameter'],
  ['properties: [{use: backend-unused, with: {backnd: a, backend: b}}]', '1:51', 'property.bad_parameter'],
  ['properties: [{use: path-closed, with: {path: admin}}]', '1:46', 'property.bad_parameter'],
  ['properties: [{use: never-blocked, with: {ranges: [10.0.0.0/40]}}]', '1:51', 'property.bad_parameter'],
  ['properties: [{name: a, never: {end: forwarded, without: [logn]}}]', '1:58', 'property.unknown_gate'],
  [
    'properties: [{name: a, never: {end: forwarded, without: [login, ip_restriction]}}]',
    '1:65',
    'property.gate_without_name',
  ],
  [
    'properties: [{use: path-needs-gate, with: {path: /a, gates: [user_agent_filter]}}]',
    '1:62',
    'property.gate_without_name',
  ],
];

test.each(WRONG)('%s', (text, _line, code) => {
  const { properties, diagnostics } = readProperties({ name: 'a.property.yaml', text });
  expect(properties).toBeNull();
  expect(diagnostics.map((each) => each.code)).toContain(code);
  expect(diagnostics.every(({ span }) => span !== undefined)).toBe(true);
});

test('a property file names its edge', () => {
  const text = 'edge: ./edge.yaml\nproperties: [{use: https-only}, {name: b, never: {end: blocked}}]\n';
  expect(readProperties({ name: 'a.property.yaml', text })).toMatchObject({
    edge: './edge.yaml',
    properties: [{ name: 'no request without TLS reaches a backend' }, { name: 'b' }],
    diagnostics: [],
  });
});
