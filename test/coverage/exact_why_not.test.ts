import { expect, test } from 'vitest';
import { coverScenario, explainWhyNot } from '../../src/simulator/search/library.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { onePolicy } from '../one_route.ts';

const deny = (name: string, ...expressions: readonly string[]) => ({
  name,
  expressions,
  actions: [{ type: 'deny' }],
});
const edge = (...rules: readonly object[]) => createEdge(onePolicy({ on_http_request: rules }));

const logged = (name: string, ...expressions: readonly string[]) => ({
  name,
  expressions,
  actions: [{ type: 'log', config: { metadata: { a: '1' } } }],
});

/** A rule that a search by neighbouring values does not find. */
const HARD = logged(
  'hard',
  "req.url.path.matches('^/v[0-9]{3}/(?:ab|cd){2}x$')",
  "getReqHeader('x-team')[0].endsWith('42')",
  "size(getReqHeader('x-team')[0]) > 4",
  "inCidrRange(conn.client_ip, '10.77.0.0/16')",
);

/** Together they take what neither takes alone. */
const HALVES = [
  deny('low', "inCidrRange(conn.client_ip, '10.0.0.0/9')"),
  deny('high', "inCidrRange(conn.client_ip, '10.128.0.0/9')"),
];

test('the fewest changes are computed, and run', () => {
  const found = explainWhyNot(edge(HARD), 'GET /', 'hard');
  expect(found).toMatchObject({
    verdict: 'changes',
    isFewest: true,
    changes: [
      expect.stringMatching(/^from 10\.77\.\d+\.\d+ instead of/),
      expect.stringMatching(/^at path \/v\d{3}\/(?:ab|cd){2}x$/),
      expect.stringMatching(/^with header x-team: .{3,}42$/),
    ],
  });
});

test('what already fits stays', () => {
  const request = {
    path: '/v123/ababx',
    ip: '10.77.1.2',
    headers: { 'x-team': 'blue' },
  };
  expect(explainWhyNot(edge(HARD), request, 'hard')).toMatchObject({
    verdict: 'changes',
    isFewest: true,
    changes: [expect.stringMatching(/^with header x-team: /)],
  });
});

test('a rule behind others that take its requests cannot decide, with the reason', () => {
  const rules = HALVES.concat(deny('narrow', "inCidrRange(conn.client_ip, '10.0.0.0/8')"));
  expect(explainWhyNot(edge(...rules), 'GET /', 'narrow')).toMatchObject({
    verdict: 'impossible',
    message: expect.stringMatching(/^No request ever reaches.*proved: .*'low', 'high'/),
  });
});

test('what depends on more than the request is still searched for, and says so', () => {
  const tor = edge(deny('tor', 'conn.client_ip.is_tor_node'));
  expect(explainWhyNot(tor, 'GET /', 'tor')).toMatchObject({
    verdict: 'changes',
    changes: ['where conn.client_ip.is_tor_node is true'],
  });
});

test('coverage does not ask for what is proved to be impossible', () => {
  const rules = [
    ...HALVES,
    deny('narrow', "inCidrRange(conn.client_ip, '10.0.0.0/8')"),
    deny('last', "req.method == 'PUT'"),
  ];
  const { points } = coverScenario(edge(...rules), {
    cases: [{ name: 'a', request: { path: '/', ip: '10.0.0.1' }, expect: { status: 403 } }],
  });
  const about = (end: string) =>
    points.filter(({ pointer, kind }) => pointer.endsWith(end) && (kind === 'rules' || kind === 'actions'));
  const dead = [...about('/on_http_request/2'), ...about('/on_http_request/2/actions/0')];
  expect(dead.length).toBeGreaterThan(1);
  for (const { uncovered } of dead)
    expect(uncovered).toMatchObject({ reason: 'cannot_happen', message: expect.stringContaining('proved') });
  // Its expression is evaluated, so both of its outcomes are not impossible because of that.
  const outcomes = points.filter(
    ({ kind, pointer }) => kind === 'outcomes' && pointer.includes('/on_http_request/2/expressions'),
  );
  expect(outcomes.some(({ uncovered }) => uncovered?.reason !== 'cannot_happen')).toBe(true);
  for (const { uncovered } of about('/on_http_request/3'))
    expect(uncovered?.reason).not.toBe('cannot_happen');
});
